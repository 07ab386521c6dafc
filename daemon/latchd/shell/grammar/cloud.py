"""Cloud, infrastructure and forge command lines: what reads, what destroys, what prints credentials."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, Operation
from latchd.shell.grammar.description import UNKNOWN, Context, Description
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import aimed, program
from latchd.shell.grammar.transfers import is_remote
from latchd.shell.grammar.verbs import ASKS, by_verb, with_files

_AWS: Final = """
* * --dry-run | * * --dryrun | * * --generate-cli-skeleton | help | * help : preview
configure get region | configure get output | configure get *.region | configure get *.output :
configure get | configure export-credentials | sts get-session-token | sts assume-role* |\
    sts get-federation-token | ecr get-login* | ecr-public get-login* | secretsmanager get-secret-value |\
    secretsmanager batch-get* | ssm get-parameter --with-decryption |\
    ssm get-parameters --with-decryption | ssm get-parameters-by-path --with-decryption |\
    codeartifact get-authorization-token | iam create-access-key | eks get-token |\
    lambda get-function-configuration | sso get-role-credentials | kms decrypt : credential_read connect
configure list* | sts get-caller-identity | configure list :
configure : config_change
s3 rb | s3 rm | s3 sync --delete | s3api delete-* : delete connect +cloud-loss
s3 ls | s3 presign | s3api list-* | s3api head-* | s3api get-bucket* : connect
s3 cp | s3 mv | s3 sync | s3api put-object | s3api get-object : copy connect
* delete-* | * terminate-* | * deregister-* | * purge-* | * destroy-* | * remove-* | * reset-* |\
    * disable-* | * schedule-key-deletion | * batch-delete* | * stop-* |\
    * revoke-* : delete connect +cloud-loss
* describe-* | * list-* | * get-* | * wait | * ls | * search* | * lookup-* | * batch-get* | logs tail |\
    * head-* | * test-* | * validate-* | * query | * scan | * select* : connect
ssm start-session | ecs execute-command | ec2-instance-connect * : workload_exec connect +remote-command
* * : config_change connect
"""


def _aws_extra(parsed: Parsed, description: Description, context: Context) -> Description:
    """s3 cp, mv and sync: local words are read or written, s3:// words are the cloud."""
    if Operation.COPY not in description.operations or parsed.operands[0].value != "s3":
        return description
    return copies(parsed, description, skip=2, schemes=("s3://",))


def copies(parsed: Parsed, description: Description, *, skip: int, schemes: tuple[str, ...]) -> Description:
    """The last two operands after the verb as source and destination."""
    words = parsed.operands[skip:]
    sources, places = (words[:-1], words[-1:]) if len(words) > 1 else (words, ())
    local = tuple(word for word in sources if not word.value.startswith(schemes))
    sends = bool(places) and places[0].value.startswith(schemes)
    recursive = parsed.has("recursive") or any(
        word.value in ("sync", "rsync") for word in parsed.operands[:skip]
    )
    moved = any(word.value in ("mv", "move") for word in parsed.operands[:skip])
    written = () if sends else places
    targets = (
        *aimed(Access.READ, local, recursive=recursive),
        *aimed(Access.WRITE, written),
        *(aimed(Access.DELETE, local) if moved else ()),
    )
    operations = (
        *description.operations,
        *((Operation.UPLOAD,) if sends else (Operation.FETCH,)),
        *((Operation.READ,) if local else ()),
        *((Operation.WRITE,) if written else ()),
        *((Operation.DELETE,) if moved else ()),
    )
    return msgspec.structs.replace(
        description,
        operations=operations,
        targets=targets,
        uploads=local if sends else (),
        saves=written if not local else (),
        details=("stdin-upload",) if any(word.value == "-" for word in local) else (),
    )


_GCLOUD: Final = """
auth print-* | auth application-default print-* | secrets versions access |\
    iam service-accounts keys create | * secrets versions access |\
    beta auth print-* : credential_read connect
auth list | config list | config get* | info | version | components list | topic :
projects delete | * delete | * * delete | * * * delete | * * * * delete | storage rm |\
    storage buckets delete | * * reset | * * purge : delete connect +cloud-loss
compute ssh | app ssh : workload_exec connect +remote-command
auth | config | init | components : config_change
storage cp | storage rsync | storage mv | compute scp : copy connect
* list | * * list | * * * list | * describe | * * describe | * * * describe | * * * * describe |\
    logging read | * * get-* | storage ls | storage cat : connect
* * : config_change connect
"""
_GSUTIL: Final = """
rm | rb | rsync --delete | * rm | * rb : delete connect +cloud-loss
ls | du | stat | cat | hash | version | help | lifecycle get | iam get : connect
cp | mv | rsync : copy connect
* : config_change connect
"""
_AZ: Final = """
account get-access-token | keyvault secret show | keyvault secret download | * keys list | * * keys list |\
    storage account keys * | acr credential show | ad sp create-for-rbac | ad sp credential * |\
    * list-keys | * show-connection-string | * * show-connection-string |\
    webapp deployment list-publishing* | aks get-credentials : credential_read connect
group delete | * delete | * * delete | * * * delete | * * * * delete | * purge | * * purge |\
    * * delete-batch : delete connect +cloud-loss
account list | account show | version | * list | * * list | * * * list | * show | * * show |\
    * * * show : connect
login | logout | configure | config | account set : config_change
* : config_change connect
"""
_TERRAFORM: Final = """
destroy | apply --destroy | state rm | workspace delete | force-unlock | taint | run-all destroy |\
    stack destroy | down | cancel | stack rm | state delete : delete connect +infra-loss
output --raw | output --json | state pull | state show | config --show-secrets |\
    stack output --show-secrets | stack export : credential_read
plan | validate | fmt --check | show | graph | providers | version | output | state list |\
    workspace list | workspace show | console | preview | stack ls | about | whoami | get : connect
init | get : fetch connect
fmt : write
apply | import | refresh | up | run-all | state mv | state push |\
    state replace-provider : config_change connect
workspace | login | logout | test | untaint | stack | config | new : config_change
"""
_GH: Final = """
auth token | auth status --show-token : credential_read
repo delete | repo archive | release delete | release delete-asset | * remove | workflow disable |\
    secret delete | variable delete |\
    cache delete | gist delete | label delete | issue delete | run delete | ssh-key delete |\
    gpg-key delete | project delete | codespace delete | ruleset delete | extension remove |\
    package delete | environment delete : delete connect +registry-loss
auth status | version | status | alias list | config get | config list | extension list | completion :
auth | config | alias | ssh-key | gpg-key | extension : config_change
* list | * view | * status | * diff | * checks | * watch | search | browse | label list | ruleset : connect
repo clone | release download | run download | pr checkout | gist clone : fetch connect write
release upload | gist create | repo create --source : upload connect +publish
codespace ssh | cs ssh : workload_exec connect +remote-command
* : connect config_change
"""


def _gh_extra(parsed: Parsed, description: Description, context: Context) -> Description:
    """gh api: a mutating method changes, DELETE removes; files in fields are read."""
    verb = parsed.operands[0].value if parsed.operands else ""
    if verb == "api":
        method = parsed.text("method").upper()
        if method == "DELETE":
            description = Description(
                known=True, operations=(Operation.DELETE, Operation.CONNECT), details=("registry-loss",)
            )
        elif method in ("", "GET") and not parsed.has("field", "raw-field", "input"):
            description = ASKS
    if verb == "auth" and parsed.has("title"):  # `auth status -t` shows the token; elsewhere -t is a title
        description = Description(known=True, operations=(Operation.CREDENTIAL_READ,))
    if [word.value for word in parsed.operands[:2]] == ["config", "get"] and any(
        "token" in word.value for word in parsed.operands[2:]
    ):
        description = Description(known=True, operations=(Operation.CREDENTIAL_READ,))
    about = parsed.operands[0].value if parsed.operands else ""
    files = "field" if about in ("issue", "pr", "release", "discussion") else ""
    described = with_files(f"body-file input notes-file env-file {files}".strip())(
        parsed, description, context
    )
    words = [word.value for word in parsed.operands[:2]]
    sent = parsed.operands[2 if words == ["gist", "create"] else 3 :]
    if words == ["gist", "create"]:
        sent = (*sent, *parsed.values("pattern"))  # `-p` makes it public and takes no value there
    if words not in (["gist", "create"], ["release", "upload"]) or not sent:
        return described
    return msgspec.structs.replace(described, targets=(*described.targets, *aimed(Access.READ, sent)))


_FORGE_OPTIONS: Final = (
    "~ a,app= t,token= p,project= c,config= r,region= o,org= f,force prod stage= scope= n,name= yes"
)
_FORGE_HOSTS: Final = """
* delete | * destroy | * * delete | * * destroy | * remove | apps:destroy | pg:reset | addons:destroy |\
    ps:kill | rm | * rm | domain rm | kv:key delete | * purge | db reset | projects:delete | * * remove |\
    undeploy | hosting:disable | firestore:delete | database:remove |\
    sites:delete : delete connect +cloud-loss
config | config:get | config:* | secrets list | secrets | env pull | env ls | auth token | tokens |\
    projects api-keys | auth whoami : connect
login* | logout* | link | init | switch | auth* : config_change
deploy | publish | up | push | * deploy | functions deploy : upload connect +publish
list | ls | status | logs | inspect | info | apps | ps | * list | * ls | whoami | version | * status |\
    * show | * get : connect
ssh | run | ssh * : workload_exec connect +remote-command
* : connect config_change
"""


def _heroku(parsed: Parsed, description: Description, _context: Context) -> Description:
    """The settings of an app, with their values; a list of secrets is one of names and digests."""
    verb, rest = (parsed.operands[0].value, parsed.operands[1:2]) if parsed.operands else ("", ())
    names = (verb, *(word.value for word in rest)) in (("secrets", "list"), ("env", "ls"))
    if (
        (
            verb in ("config", "config:get", "env", "env:list", "env:get", "secrets", "variables", "vars")
            or (verb, *(word.value for word in rest)) in (("auth", "token"),)
        )
        and description.details == ()
        and not names
    ):
        return Description(known=True, operations=(Operation.CREDENTIAL_READ, Operation.CONNECT))
    return description


def _sst(parsed: Parsed, description: Description, context: Context) -> Description:
    """sst prints the values of its secrets too."""
    words = [word.value for word in parsed.operands[:2]]
    if words[:1] in (["secret"], ["secrets"]) and words[1:] in ([], ["list"], ["get"]):
        return Description(known=True, operations=(Operation.CREDENTIAL_READ, Operation.CONNECT))
    return _heroku(parsed, description, context)


def _object_store(parsed: Parsed, description: Description, _context: Context) -> Description:
    if Operation.COPY in description.operations:
        return copies(
            parsed, description, skip=1, schemes=("s3://", "gs://", "b2://", "https://", "oss://", "cos://")
        )
    return description


def _gsutil(parsed: Parsed, description: Description, _context: Context) -> Description:
    if Operation.COPY in description.operations:
        return copies(parsed, description, skip=1, schemes=("gs://", "s3://"))
    return description


def _gcloud_copies(parsed: Parsed, description: Description, _context: Context) -> Description:
    if Operation.COPY not in description.operations:
        return description
    remote = [word for word in parsed.operands[2:] if "://" not in word.value and is_remote(word.value)]
    done = copies(parsed, description, skip=2, schemes=("gs://", "s3://"))
    if remote and remote[-1] == parsed.operands[-1]:
        local = parsed.operands[2:-1]
        return msgspec.structs.replace(
            done, operations=(*description.operations, Operation.UPLOAD, Operation.READ), uploads=local,
            targets=aimed(Access.READ, local),
        )  # fmt: skip
    return done


_S3: Final = """
rm | rb | del | delete | remove | mirror --remove | admin * remove | mb --force | rm --recursive |\
    delete-* | file delete* | file-versions delete* |\
    bucket delete | purge : delete connect +cloud-loss
ls | la | du | info | stat | cat | head | tree | list* | bucket list | diff | find | version : connect
put | get | cp | mv | sync | mirror | copy | upload | download | upload-file | download-file |\
    file upload | file download : copy connect
* : config_change connect
"""


def _ansible(parsed: Parsed, _context: Context) -> Description:
    """Playbooks run on other machines; --check only tries."""
    if parsed.has("syntax-check", "list-tasks", "list-hosts", "list-tags"):
        return Description(known=True)
    return Description(
        known=True,
        operations=(Operation.WORKLOAD_EXEC, Operation.CONNECT, Operation.EXECUTE),
        targets=aimed(
            Access.READ, (*parsed.values("inventory", "vault-password-file"), *parsed.operands[:1])
        ),
        details=("remote-command",),
    )


_GENERIC: Final = """
* --dry-run : preview
delete | destroy | purge | reset | uninstall | clear | remove-all | forget | prune | compact |\
    break-lock | recreate :\
    delete connect +cloud-loss
* delete | * rm | * remove | * destroy | * purge | * clear | * reset | * revoke | * roll | * archive |\
    * kill :\
    delete connect +cloud-loss
* * delete | * * remove | * * destroy | * * purge | * * clear | * * unset : delete connect +cloud-loss
unlock --remove-all | cache --cleanup : delete +cloud-loss
* --delete | --delete | --reset-offsets | --delete-config : delete connect +cloud-loss
ssh | exec | * ssh | * exec : workload_exec connect +remote-command
list | ls | status | info | version | help | logs | show | get | snapshots | check | diff | find |\
    stats : connect
* list | * ls | * get | * describe | * show | * info | * status | * logs | * view : connect
"""
_MUTATES: Final = Description(known=True, operations=(Operation.CONFIG_CHANGE, Operation.CONNECT))

PROGRAMS: Final = (
    program(
        "aws aws2 awslocal",
        "~ profile= region= output= query= endpoint-url= delete recursive dryrun dry-run with-decryption "
        "generate-cli-skeleton? cli-input-json= secret-id= name= names= bucket= key= body= "
        "instance-ids= filters= exclude= include= "
        "policy-arn= role-name= function-name= stack-name= acl= ca-bundle= no-verify-ssl",
        by_verb(_AWS, UNKNOWN, _aws_extra),
        {
            "aws s3 ls": "connect",
            "aws s3 rm s3://b/k --recursive": "delete connect +cloud-loss",
            "aws s3 rb s3://b --force": "delete connect +cloud-loss",
            "aws --profile x ec2 terminate-instances --instance-ids i": "delete connect +cloud-loss",
            "aws s3 cp a s3://b/": "copy connect upload read read:a upload=a",
            "aws s3 cp s3://b/k .": "copy connect fetch write write:. save=.",
            "aws secretsmanager get-secret-value --secret-id x": "credential_read connect",
            "aws sts get-caller-identity": "",
            "aws configure get aws_secret_access_key": "credential_read connect",
            "aws configure get region": "",
            "aws ec2 describe-instances": "connect",
            "aws ssm get-parameter --name x --with-decryption": "credential_read connect",
            "aws ec2 terminate-instances --dry-run": "preview",
            "aws s3 sync . s3://b --delete": "delete connect +cloud-loss",
            "aws rds delete-db-instance": "delete connect +cloud-loss",
        },
    ),
    program(
        "gcloud",
        "~ project= format= filter= zone= region= account= configuration= secret= q,quiet "
        "impersonate-service-account= key-file= r,recursive",
        by_verb(_GCLOUD, UNKNOWN, _gcloud_copies),
        {
            "gcloud projects delete x": "delete connect +cloud-loss",
            "gcloud compute instances list": "connect",
            "gcloud auth print-access-token": "credential_read connect",
            "gcloud compute instances delete x": "delete connect +cloud-loss",
            "gcloud secrets versions access latest --secret=x": "credential_read connect",
            "gcloud storage cp a gs://b": "copy connect upload read read:a upload=a",
            "gcloud config set project x": "config_change",
        },
    ),
    program(
        "gsutil",
        "~ o= h= d,delete r,recursive R",
        by_verb(_GSUTIL, UNKNOWN, _gsutil),
        {
            "gsutil -m rm -r gs://b": "delete connect +cloud-loss",
            "gsutil cp a gs://b": "copy connect upload read read:a upload=a",
            "gsutil ls": "connect",
        },
    ),
    program(
        "az",
        "~ g,resource-group= n,name= o,output= query= subscription= vault-name= y,yes file,f=",
        by_verb(_AZ),
        {
            "az group delete -n x": "delete connect +cloud-loss",
            "az vm list": "connect",
            "az account get-access-token": "credential_read connect",
            "az keyvault secret show --name x": "credential_read connect",
            "az vm delete -n x": "delete connect +cloud-loss",
        },
    ),
    program(
        "terraform tofu terragrunt pulumi cdktf",
        "~ chdir= var= var-file= out= target= "
        "state= lock-timeout= parallelism= replace= backend-config= destroy auto-approve raw json "
        "check show-secrets stack= cwd=",
        by_verb(_TERRAFORM, UNKNOWN, with_files("var-file", "out")),
        {
            "terraform destroy -auto-approve": "delete connect +infra-loss",
            "terraform -chdir=x destroy": "delete connect +infra-loss",
            "terraform apply": "config_change connect",
            "terraform apply -destroy": "delete connect +infra-loss",
            "terraform plan -out=p": "connect write:p",
            "terraform state rm x": "delete connect +infra-loss",
            "terraform output -raw x": "credential_read",
            "terraform -help": "preview",
            "terraform init": "fetch connect",
        },
        style=Style.DASHED,
    ),
    program(
        "gh glab hub-cli tea",
        "~ R,repo= X,method= f,raw-field= F,field= H,header= q,jq= t,title= b,body= body-file= notes= "
        "notes-file= input= template= "
        "json= L,limit= l,label= a,assignee= B,base= head= m,milestone= S,search= env-file= show-token "
        "source= D,dir= p,pattern= hostname= w,web s,state= "
        "c,comment= y,yes",
        by_verb(_GH, UNKNOWN, _gh_extra),
        {
            "gh pr list": "connect",
            "gh repo delete o/r --yes": "delete connect +registry-loss",
            "gh -R o/r repo delete": "delete connect +registry-loss",
            "gh auth token": "credential_read",
            "gh api repos/o/r": "connect",
            "gh api -X DELETE repos/o/r": "delete connect +registry-loss",
            "gh pr create -t x --body-file b": "connect config_change read:b",
            "gh auth status -t": "credential_read +unknown-option",
            "gh release delete v1": "delete connect +registry-loss",
            "gh release upload v1 a": "upload connect read:a +publish",
            "gh gist create a": "upload connect read:a +publish",
            "gh gist create -p a": "upload connect read:a +publish",
            "gh issue create -t x -F a.md": "connect config_change read:a.md",
            "gh config get editor": "",
            "gh config get -h github.com oauth_token": "credential_read",
            "gh repo clone o/r": "fetch connect write",
        },
    ),
    program(
        "heroku fly flyctl vercel netlify wrangler firebase supabase railway render doctl hcloud "
        "linode-cli ibmcloud oci scw surge now amplify eb sam cdk "
        "serverless sls eksctl kops",
        _FORGE_OPTIONS,
        by_verb(_FORGE_HOSTS, UNKNOWN, _heroku),
        {
            "heroku apps:destroy x": "delete connect +cloud-loss",
            "heroku config": "credential_read connect",
            "vercel deploy": "upload connect +publish",
            "fly apps destroy x": "delete connect +cloud-loss",
            "doctl compute droplet delete 1": "delete connect +cloud-loss",
            "supabase db reset": "delete connect +cloud-loss",
            "netlify status": "connect",
            "vercel env ls": "connect",
            "doctl auth token": "credential_read connect",
            "doctl auth list": "config_change",
            "fly secrets list": "connect",
        },
    ),
    program(
        "sst",
        _FORGE_OPTIONS,
        by_verb(_FORGE_HOSTS, UNKNOWN, _sst),
        {"sst secret list": "credential_read connect", "sst deploy": "upload connect +publish"},
    ),
    program(
        "stripe fastly circleci nats restic borg velero rabbitmqctl rabbitmqadmin kafka-topics "
        "kafka-topics.sh "
        "kafka-consumer-groups kafka-configs kcat algolia newrelic datadog-ci pd sentry-cli ldcli "
        "flipt unleash "
        "grafana-cli deck consul nomad etcdctl argocd argo flux istioctl linkerd cilium rancher eas "
        "dapr temporal "
        "airflow dbt meilisearch elasticsearch-plugin apigeecli snyk-iac turso planetscale pscale neonctl "
        "skaffold devspace okteto lxc-destroy virt-delete "
        "databricks spin deployctl boundary waypoint packer nomad-pack crossplane pulumi-esc",
        "~ c,config= f,force y,yes dry-run delete delete-config reset-offsets remove-all cleanup p,project= "
        "bootstrap-server= topic= group= e,env= o,output= n,namespace= r,repo= s,server= api-key= token= "
        "entity-type= entity-name= name=",
        by_verb(_GENERIC, _MUTATES),
        {
            "stripe customers delete c": "delete connect +cloud-loss",
            "kafka-topics --bootstrap-server localhost:9092 --delete --topic x": "delete connect +cloud-loss",
            "restic snapshots": "connect",
            "nats stream purge X": "delete connect +cloud-loss",
            "argocd app sync x": "config_change connect",
        },
    ),
    program(
        "s3cmd s5cmd mc b2 azcopy ossutil",
        "~ c,config= access_key= secret_key= remove r,recursive f,force endpoint-url= profile=",
        by_verb(_S3, UNKNOWN, _object_store),
        {
            "s3cmd put a s3://b": "copy connect upload read read:a upload=a",
            "s3cmd del s3://b/k": "delete connect +cloud-loss",
            "mc ls": "connect",
        },
    ),
    program(
        "ansible ansible-playbook ansible-console salt fab pssh pdsh",
        "~ i,inventory= e,extra-vars= l,limit= t,tags= u,user= m,module-name= a,args= "
        "syntax-check list-tasks list-hosts list-tags vault-password-file= private-key= f,forks= "
        "skip-tags= start-at-task=",
        _ansible,
        {
            "ansible-playbook -i hosts site.yml": (
                "workload_exec connect execute read:hosts read:site.yml +remote-command"
            ),
            "ansible-playbook --list-tasks site.yml": "",
        },
    ),
)
