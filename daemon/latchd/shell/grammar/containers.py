"""Containers and clusters: docker and its kin, compose, kubectl, helm, vagrant."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import UNKNOWN, Contact, Context, Description, Target
from latchd.shell.grammar.options import Parsed, Style, piece
from latchd.shell.grammar.places import resolve
from latchd.shell.grammar.program import aimed, family, program
from latchd.shell.grammar.shell_words import prints_environment
from latchd.shell.grammar.verbs import RUNS, by_verb, with_files

_RUN: Final = (
    "~ v,volume= mount= e,env= env-file= p,publish= w,workdir= u,user= name= network,net= entrypoint= "
    "l,label= h,hostname= "
    "m,memory= a,attach= c,cpu-shares= add-host= cap-add= cap-drop= cpus= cpuset-cpus= device= dns= "
    "expose= gpus= ip= ipc= "
    "isolation= link= log-driver= log-opt= mac-address= memory-swap= network-alias= pid= platform= "
    "pull= restart= runtime= "
    "security-opt= shm-size= stop-signal= stop-timeout= storage-opt= sysctl= tmpfs= ulimit= userns= "
    "uts= volume-driver= "
    "volumes-from= cgroupns= cidfile= detach-keys= health-cmd= annotation= label-file= privileged? index="
)


_WIDE: Final = frozenset(
    "/ /etc /root /home /users /var /usr /bin /sbin /lib /lib64 /boot /dev /proc /sys /run /var/run /var/lib "
    "/var/lib/docker /var/lib/kubelet /opt /mnt /media".split()
)


# The sockets by which the container runtimes of this machine are spoken to.
_ENGINE: Final = re.compile(
    r"(?:(?:/var)?/run(?:/user/[^/]{1,64})?|\0|.*/\.(?:docker/(?:run|desktop)|orbstack/run|rd|colima(?:/[^/]{1,64})?))"
    r"/(?:docker\.sock|podman/podman\.sock|(?:k3s/)?containerd/containerd\.sock|crio/crio\.sock)\Z"
)


def _is_machine(bind: Argument, context: Context) -> bool:
    """A mount of the host as such: its root, a home with all in it, a directory of the system, its engine."""
    path = resolve(bind, context)
    if _ENGINE.match(path or bind.value):
        return True
    return path.lower() in _WIDE or bool(path and context.home and f"{context.home}/".startswith(f"{path}/"))


_TRUE: Final = frozenset("1 t T true TRUE True".split())


def _is_on(parsed: Parsed, name: str) -> bool:
    """A switch as Go reads it: the last one counts, and what is no truth value is an error."""
    last = next((given for given in reversed(parsed.given) if given.name == name), None)
    return last is not None and (last.value is None or last.value.value in _TRUE or last.value.expands)


def _runs(parsed: Parsed, context: Context) -> Description:
    """run, create: an image and the words inside it; bind mounts let it touch the host.

    A mount of the machine itself is a detail: what happens there is up to the container. One of a named
    directory is that directory read, and written unless it is read-only.
    """
    binds: list[tuple[Argument, bool]] = []
    for word in parsed.values("volume"):
        source, colon, rest = word.value.partition(":")
        if colon and source.startswith(("/", ".", "~", "\0")):
            binds.append((piece(word, 0, len(source)), rest.endswith(":ro")))
    for word in parsed.values("mount"):
        pairs = {key: value for key, _, value in (part.partition("=") for part in word.value.split(","))}
        place = pairs.get("source", pairs.get("src", ""))
        if pairs.get("type") == "bind" and place:
            readonly = "readonly" in pairs or "ro" in pairs
            binds.append((Argument(value=place, expands="\0" in place), readonly))
    details: list[str] = []
    loose = (
        _is_on(parsed, "privileged") or parsed.text("pid") == "host" or "SYS_ADMIN" in parsed.text("cap-add")
    )
    if loose:
        details.append("privileged")
    if any(_is_machine(bind, context) for bind, _ in binds):
        details.append("host-mount")
    if len(parsed.operands) > 1:
        details.append("child-command")
    targets: list[Target] = []
    for bind, readonly in binds:
        if bind.value.endswith((".sock", ".socket")):
            targets.append(Target(Access.CONNECT, bind))
        elif not _is_machine(bind, context):
            targets.append(Target(Access.READ, bind, recursive=True))
            if not readonly:
                targets.append(Target(Access.APPEND, bind, recursive=True))
    return Description(
        known=True,
        operations=(Operation.CONTAINER_RUN, Operation.EXECUTE),
        # an environment file goes into the container: nothing is shown of it
        targets=(*targets, *aimed(Access.METADATA, parsed.values("env-file"))),
        details=tuple(details),
    )


def _far(parsed: Parsed, description: Description, _context: Context) -> Description:
    """A program that is started in a container of another machine's engine: -H, or --url of podman."""
    far = [word for word in parsed.values("host", "url") if not word.value.startswith(_LOCAL)]
    enters = description.operations[:1] == (Operation.CONTAINER_RUN,) and any(
        word.value == "exec" for word in parsed.operands[:2]
    )
    if not far or not enters:
        return description
    return msgspec.structs.replace(
        description,
        operations=(*description.operations, Operation.WORKLOAD_EXEC, Operation.CONNECT),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in far),
    )


_LOCAL: Final = ("unix:", "npipe:", "fd:")


def _executes_in(parsed: Parsed, _context: Context) -> Description:
    words = parsed.operands[1:]
    dumps = prints_environment(words)
    return Description(
        known=True,
        operations=(
            Operation.CONTAINER_RUN,
            Operation.EXECUTE,
            *((Operation.ENVIRONMENT_READ,) if dumps else ()),
        ),
        details=("child-command",),
    )


def _copies(parsed: Parsed, _context: Context) -> Description:
    """cp: one side is CONTAINER:PATH."""
    targets: list[Target] = []
    for place, word in enumerate(parsed.operands[:2]):
        inside = ":" in word.value and not word.value.startswith(("/", ".", "~"))
        if not inside and word.value != "-":
            targets.append(Target(Access.WRITE if place else Access.READ, word, recursive=True))
    return Description(known=True, operations=(Operation.COPY,), targets=tuple(targets))


def _logs_in(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.CONFIG_CHANGE),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in parsed.operands[:1]),
        reads_stdin=parsed.has("password-stdin"),
    )


def _builds(parsed: Parsed, _context: Context) -> Description:
    places = parsed.operands[:1]
    remote = [word for word in places if "://" in word.value]
    local = [word for word in places if "://" not in word.value]
    return Description(
        known=True,
        operations=(Operation.EXECUTE, Operation.FETCH, *((Operation.UPLOAD,) if parsed.has("push") else ())),
        targets=(
            *aimed(Access.READ, local, recursive=True),
            *aimed(Access.READ, parsed.values("file")),
            *aimed(Access.WRITE, parsed.values("iidfile")),
        ),
        contacts=tuple(Contact(NetAction.DOWNLOAD, word) for word in remote),
    )


_DOCKER: Final = """
ps | images | image ls | image list | image inspect | image history | container ls | container list |\
    container ps | container logs | container top | volume ls | volume inspect | network ls |\
    network inspect | logs | top | stats | port | diff | version | info | history | search | events |\
    system df | system info | context ls | context show | context inspect | node ls | service ls |\
    service ps | stack ls | manifest inspect | plugin ls | buildx ls | scan | sbom | wait | attach :
inspect | container inspect | service inspect : environment_read
secret inspect | config inspect :
system prune | volume prune | image prune --all | container prune | volume rm | volume remove |\
    rm --force | rmi --force | rm --volumes | container rm --force | container remove --force |\
    image rm --force | image remove --force | stack rm | stack down | service rm | service remove |\
    swarm leave | secret rm | config rm | machine rm | machine reset | system reset | pod rm | pod prune |\
    kube down | namespace rm : delete +container-loss
rm | rmi | container rm | container remove | image rm | image remove | network rm | network remove |\
    context rm | builder prune | buildx prune | image prune | network prune | buildx rm |\
    image delete | plugin rm | delete : delete
kill | container kill | stop | container stop : process_kill +service-stop
push | image push | manifest push : upload connect +publish
pull | image pull | image import | import | load | image load : fetch connect
save | image save | export | container export : read
tag | commit | rename | update | pause | unpause | start | restart | container start | container restart |\
    network create | network connect | network disconnect | volume create | plugin install | swarm init |\
    swarm join | service create | service update | service scale | stack deploy | context use |\
    context create : config_change
logout : config_change
"""
_WORKLOADS: Final = """
* --help : preview
exec | tasks exec | task exec | t exec : workload_exec execute +child-command
attach | tasks attach | task attach | t attach : workload_exec
run | runp | create | start | tasks start | task start : container_run execute
rm | rmp | rmi | containers rm | containers delete | container rm | tasks rm | task rm | images rm |\
    image rm | snapshots rm | namespaces rm : delete +container-loss
stop | stopp | tasks kill | task kill | t kill : process_kill +service-stop
pull | images pull | image pull | images import : fetch connect
ps | pods | images | image ls | logs | inspect* | stats | statsp | info | version | config | events |\
    containers ls | containers list | container ls | tasks ls | task ls | tasks ps | snapshots ls :
"""
_COMPOSE: Final = """
down --volumes | down --rmi | rm --volumes : delete +container-loss
rm : delete
down | stop | kill : process_kill +service-stop
config | ps | images | logs | top | port | ls | version | events :
run | exec : container_run execute +child-command
up | start | restart | create | watch : container_run execute
build : execute fetch
pull : fetch connect
push : upload connect +publish
"""


def _system(parsed: Parsed, description: Description, context: Context) -> Description:
    """A remote daemon (-H, --context) is a contact; files of save and export are written."""
    written = parsed.values("output")
    if Operation.ENVIRONMENT_READ in description.operations and _formatted(parsed):
        description = msgspec.structs.replace(description, operations=())
    contacts = tuple(
        Contact(NetAction.CONNECT, word)
        for word in parsed.values("host")
        if not word.value.startswith("unix:")
    )
    return msgspec.structs.replace(
        description,
        targets=(*description.targets, *aimed(Access.WRITE, written)),
        contacts=(*description.contacts, *contacts),
    )


def _formatted(parsed: Parsed) -> bool:
    """inspect with a template that does not name the environment or everything."""
    templates = [word.value for word in (*parsed.values("format"), *parsed.operands) if "{{" in word.value]
    return bool(templates) and not any("Env" in text or "json ." in text for text in templates)


_KUBECTL: Final = """
* --dry-run : preview
delete --all | delete --all-namespaces | delete namespace | delete namespaces | delete ns | delete node |\
    delete pv | delete pvc | delete crd : delete connect +cluster-loss +all-refs
delete | drain | replace --force : delete connect +cluster-loss
get secret --output | get secrets --output | get secret/* --output | get secrets/* --output |\
    get secret* --output | config view --raw | create token |\
    get --raw : credential_read connect
get | describe | logs | top | explain | api-resources | api-versions | cluster-info | version | diff |\
    auth | wait | events | rollout status | rollout history | kustomize :
config set* | config use* | config delete* | config unset | config rename* : config_change
config :
exec : workload_exec connect +remote-command
attach | debug | run : workload_exec connect
cp : copy connect
port-forward | proxy : tunnel connect +tunnel
apply --prune : delete connect +cluster-loss
apply | create | expose | patch | edit | label | annotate | set | scale | autoscale | rollout | taint |\
    cordon | uncordon | replace | adm | certificate : config_change connect
"""


_DATA: Final = re.compile(r"(?<![a-z])(?:string)?data\b|\{\.\}|items(?:\[\*?\])?\}", re.IGNORECASE)


def _hides_data(parsed: Parsed) -> bool:
    """An output format that shows names or fields, and not the data."""
    form = parsed.text("output")
    fields = form.startswith(("jsonpath=", "custom-columns=", "go-template="))
    return form in ("name", "wide") or (fields and _DATA.search(form) is None)


# Paths of the interface that give secrets, or that may.
_RAW_SECRETS: Final = re.compile(
    r"secret|token|\0|/proxy|%|^(?!/(?:api|apis|healthz|livez|readyz|version|metrics))"
)


def _kubectl_extra(parsed: Parsed, description: Description, context: Context) -> Description:
    """Secrets printed whole; a scale to zero; exec … env."""
    verb = parsed.operands[0].value if parsed.operands else ""
    if verb == "scale" and parsed.text("replicas") == "0":
        return msgspec.structs.replace(description, details=("service-stop",))
    if verb == "get" and Operation.CREDENTIAL_READ in description.operations:
        asked = parsed.operands[-1].value if parsed.has("raw") and len(parsed.operands) == 2 else ""
        if _hides_data(parsed) or (asked and not _RAW_SECRETS.search(asked)):
            return msgspec.structs.replace(description, operations=())
    words = parsed.operands
    if verb == "exec" and any(prints_environment(words[at:]) for at in range(1, len(words))):
        description = msgspec.structs.replace(
            description, operations=(*description.operations, Operation.ENVIRONMENT_READ)
        )
    if verb == "cp":
        return msgspec.structs.replace(
            description,
            targets=_copies(
                Parsed(parsed.given, parsed.operands[1:], parsed.unknown, parsed.early, parsed.words), context
            ).targets,
        )
    return with_files("filename kubeconfig kustomize")(parsed, description, context)


_HELM: Final = """
* --dry-run | * * --dry-run : preview
uninstall | delete | del | un | destroy : delete connect +cluster-loss
get values | get all | get manifest : credential_read connect
get | list | ls | history | status | show | template | lint | search | version | env | repo list |\
    dependency list | verify :
repo add | repo update | pull | fetch | dependency | dep : fetch connect
install | upgrade : install connect config_change
rollback | test : config_change connect
push : upload connect +publish
repo remove | plugin : config_change
"""
_VAGRANT: Final = """
destroy | delete | purge : delete +container-loss
halt | suspend : process_kill +service-stop
status | global-status | port | version | validate | ssh-config | box list :
ssh : workload_exec connect +remote-command
up | provision | reload | resume : execute fetch
"""

PROGRAMS: Final = (
    family(
        "docker podman nerdctl buildah skopeo crane lima finch",
        "~ H,host= c,context= l,log-level= D,debug config= connection= url= root= n,namespace= "
        "o,output= f,force format= v,volumes a,all",
        (
            program(
                "run create container+run container+create",
                _RUN,
                _runs,
                {
                    "docker run --rm -v /:/h alpine cat /h/x": (
                        "container_run execute +host-mount +child-command"
                    ),
                    "docker run --privileged alpine": "container_run execute +privileged",
                    "docker run --privileged=false alpine": "container_run execute",
                    "docker run --privileged=maybe alpine": "container_run execute",
                    "docker run --privileged=1 --privileged=F alpine": "container_run execute",
                    "docker run -v ./a:/b:ro x": "container_run execute read:./a/**",
                    "docker run -v /var/run/docker.sock:/s x": (
                        "container_run execute connect:/var/run/docker.sock +host-mount"
                    ),
                    "docker run --mount type=bind,source=/etc,target=/e x": (
                        "container_run execute +host-mount"
                    ),
                    "docker run -v /tmp/docker.sock:/var/run/docker.sock x": (
                        "container_run execute connect:/tmp/docker.sock"
                    ),
                    "docker run -v $X/podman/podman.sock:/s x": (
                        "container_run execute connect:$/podman/podman.sock +host-mount"
                    ),
                    "docker run -v ~:/h x": "container_run execute +host-mount",
                    "docker run -v /data:/d x": "container_run execute read:/data/** append:/data/**",
                    "docker run --env-file .env x": "container_run execute metadata:.env",
                },
                style=Style.LEADING,
                abbreviates=False,
                previews="help",
            ),
            program(
                "exec container+exec",
                _RUN,
                _executes_in,
                {
                    "docker exec -it c sh -c x": "container_run execute +child-command",
                    "docker exec c env": "container_run execute environment_read +child-command",
                },
                style=Style.LEADING,
                previews="help",
            ),
            program(
                "cp container+cp",
                "~",
                _copies,
                {"docker cp c:/a b": "copy write:b/**", "docker cp a c:/b": "copy read:a/**"},
            ),
            program(
                "login",
                "~ u,username= p,password= password-stdin",
                _logs_in,
                {"docker login example.com": "connect config_change connect@example.com"},
            ),
            program(
                "build buildx+build image+build",
                "~ t,tag= f,file= build-arg= target= platform= network= secret= ssh= cache-from= "
                "cache-to= o,output= "
                "progress= label= iidfile= build-context= builder= push load",
                _builds,
                {
                    "docker build -t x .": "execute fetch read:./**",
                    "docker build -f D .": "execute fetch read:./** read:D",
                },
            ),
            program(
                "compose",
                "~ f,file= p,project-name= profile= env-file= project-directory= ansi= "
                "progress= parallel= v,volumes rmi= force remove-orphans t,timeout= scale=",
                by_verb(_COMPOSE, RUNS),
                {
                    "docker compose down -v": "delete +container-loss",
                    "docker compose up -d": "container_run execute",
                    "docker compose -f a.yml down": "process_kill +service-stop",
                    "docker compose ps": "",
                },
            ),
        ),
        by_verb(_DOCKER, UNKNOWN, _system),
        {
            "docker ps -a": "",
            "docker system prune -af --volumes": "delete +container-loss",
            "docker volume rm x": "delete +container-loss",
            "docker -H tcp://example.com:2375 ps": "connect@tcp://example.com:2375",
            "docker push x/y": "upload connect +publish",
            "docker save -o a.tar x": "read write:a.tar",
            "docker rm -f c": "delete +container-loss",
            "docker inspect c": "environment_read",
            "docker inspect -f '{{.State.Status}}' c": "",
            "docker rm c": "delete",
            "docker pull x": "fetch connect",
            "docker image prune -f": "delete",
            "docker image prune -af": "delete +container-loss",
            "docker -H tcp://example.com:2375 exec c ls": (
                "container_run execute workload_exec connect connect@tcp://example.com:2375 +child-command"
            ),
        },
        adjust=_far,
    ),
    program(
        "crictl ctr",
        "~ address= n,namespace= r,runtime-endpoint= i,image-endpoint= t,timeout= c,config= exec-id= cwd= "
        "user= o,output= f,force all",
        by_verb(_WORKLOADS, UNKNOWN),
        {
            "crictl ps -a": "",
            "crictl -r unix:///run/x.sock exec 1a ls": "workload_exec execute +child-command",
            "ctr -n k8s.io tasks exec --exec-id x 1a ls": "workload_exec execute +child-command",
            "ctr run x 1a": "container_run execute",
            "crictl rmp -f 1a": "delete +container-loss",
            "crictl stop 1a": "process_kill +service-stop",
            "ctr images pull x": "fetch connect",
        },
    ),
    program(
        "docker-compose podman-compose",
        "~ f,file= p,project-name= profile= env-file= v,volumes rmi= force t,timeout= scale=",
        by_verb(_COMPOSE, RUNS),
        {
            "docker-compose down --volumes": "delete +container-loss",
            "docker-compose up": "container_run execute",
        },
    ),
    program(
        "kubectl oc k k3s.kubectl microk8s.kubectl",
        "~ n,namespace= context= kubeconfig= f,filename= o,output= l,selector= c,container= "
        "A,all-namespaces all "
        "dry-run? raw? grace-period= replicas= prune force image= k,kustomize= s,server= token= user= "
        "cluster= as= timeout= field-selector= "
        "tail= since= type= p,patch= restart= template= sort-by= show-labels cascade=",
        by_verb(_KUBECTL, UNKNOWN, _kubectl_extra),
        {
            "kubectl get pods -A": "",
            "kubectl delete pod x": "delete connect +cluster-loss",
            "kubectl -n a delete ns b": "delete connect +cluster-loss +all-refs",
            "kubectl delete pods --all": "delete connect +cluster-loss +all-refs",
            "kubectl get secret x -o yaml": "credential_read connect",
            "kubectl get secret x -o name": "",
            "kubectl describe secret x": "",
            "kubectl get --raw /healthz": "",
            "kubectl get --raw /api/v1/namespaces/x/secrets/y": "credential_read connect",
            "kubectl get secret x -o jsonpath={.metadata.name}": "",
            "kubectl get secret x -o jsonpath={.data.password}": "credential_read connect",
            "kubectl exec -it p -- env": "workload_exec connect environment_read +remote-command",
            "kubectl apply -f a.yml": "config_change connect read:a.yml",
            "kubectl delete pod x --dry-run=client": "preview",
            "kubectl config view --raw": "credential_read connect",
            "kubectl port-forward p 80": "tunnel connect +tunnel",
            "kubectl logs p": "",
            "kubectl drain n": "delete connect +cluster-loss",
            "kubectl scale deploy/x --replicas=0": "config_change connect +service-stop",
        },
    ),
    program(
        "helm helmfile",
        "~ n,namespace= f,values= set= version= kube-context= kubeconfig= repo= dry-run? o,output=",
        by_verb(_HELM, UNKNOWN, with_files("values")),
        {
            "helm list": "",
            "helm uninstall x": "delete connect +cluster-loss",
            "helm install x y -f v.yml": "install connect config_change read:v.yml",
            "helm get values x": "credential_read connect",
            "helm install x y --dry-run": "preview",
        },
    ),
    program(
        "vagrant multipass limactl minikube kind k3d colima",
        "~ f,force",
        by_verb(_VAGRANT, RUNS),
        {
            "vagrant destroy -f": "delete +container-loss",
            "vagrant up": "execute fetch",
            "kind delete cluster": "delete +container-loss",
            "vagrant status": "",
        },
    ),
)
