"""Which of our rules finds what an upstream rule id of the facts corpus finds.

The upstream ids are DefenseClaw's. Several of ours may own one of them, because ours are judged by effect.
An id whose subject is text to a model, not an action, has no owner: its rows are benign.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_TABLE: Final = """
CMD-REVSHELL-BASH                              egress.reverse-shell
CMD-REVSHELL-DEVTCP                            egress.reverse-shell egress.device-socket
CMD-REVSHELL-NC                                egress.reverse-shell
CMD-REVSHELL-PYTHON                            code.reverse-shell
CMD-SOCAT-EXEC                                 egress.reverse-shell
CMD-NETCAT-LISTEN                              egress.reverse-shell
CMD-PIPE-CURL                                  egress.download-exec powershell.download-exec
CMD-PIPE-WGET                                  egress.download-exec
CMD-PIPE-BASE64                                vouch.unknown-input
CMD-EVAL                                       vouch.unknown-word vouch.unknown-input
CMD-RM-RF                                      fs.delete-root-or-home powershell.remove
CMD-MKFS                                       fs.device-write
CMD-DD-IF                                      fs.device-write
CMD-CHMOD-WORLD                                fs.change-mode fs.set-id
CMD-CHOWN-ROOT                                 fs.change-mode write.outside-roots
CMD-SUDO                                       rights.discovery
CMD-ETC-WRITE                                  fs.overwrite-system write.persistence write.outside-roots
CMD-CRONTAB                                    write.schedule
CMD-SYSTEMCTL                                  write.schedule write.persistence powershell.persistence
CMD-CURL-UPLOAD                                egress.secret-upload
CMD-WGET-POST                                  egress.secret-upload egress.upload
CMD-ENV-DUMP                                   egress.secret-upload env.dump
C2-DNS-TUNNEL                                  egress.name-tunnel
C2-DNS-EXFIL                                   egress.name-tunnel
C2-METADATA-AWS                                egress.metadata-endpoint
C2-METADATA-GCP                                egress.metadata-endpoint
C2-METADATA-AZURE                              egress.metadata-endpoint
C2-METADATA-HEX                                egress.metadata-endpoint
C2-METADATA-DECIMAL                            egress.metadata-endpoint
C2-METADATA-OCTAL                              egress.metadata-endpoint
C2-WEBHOOK-SITE                                egress.collector
C2-PIPEDREAM                                   egress.collector
C2-REQUESTBIN                                  egress.collector
C2-HOOKBIN                                     egress.collector
C2-BURP                                        egress.collector
C2-INTERACTSH                                  egress.collector
C2-OAST                                        egress.collector
C2-CANARY                                      egress.collector
C2-NGROK                                       network.paste-site egress.reverse-tunnel
C2-PASTEBIN                                    network.paste-site
secrets.cloud_secret_manager_read              credential.print
secrets.cloud_credential_read                  credential.read
secrets.browser_session_store_read             credential.read
secrets.workload_identity_token_read           credential.read
exfil.secret_read_and_egress_oneliner          egress.secret-upload
exec.reverse_tunnel                            egress.reverse-tunnel
exec.agent_runtime_bypass_flags                agent.bypass
integrity.git_hooks_bypass                     git.hooks-bypass git.executing-config
integrity.history_tamper                       trace.history
recon.network_sweep                            network.sweep
privilege.container_host_escape                infra.host-access
privilege.container_runtime_socket_access      infra.host-access container.runtime-socket
privilege.host_namespace_entry                 container.host-namespace
lateral.workload_exec                          cluster.exec
impact.cryptomining_launch                     abuse.miner
impact.fork_bomb                               sys.fork-bomb
impact.mass_process_termination                sys.halt powershell.mass-kill
source.git_remote_tamper                       git.remote-change
source.git_config_exec                         git.executing-config write.protected powershell.git-write
persistence.ssh_authorized_keys_command        write.persistence write.credential
persistence.privileged_account_change          write.accounts powershell.accounts
persistence.shell_profile_write                write.persistence
persistence.git_hook_write                     write.protected powershell.git-write
PATH-SSH-DIR                                   write.persistence write.credential
PATH-SSH-KEY                                   credential.read powershell.credential
PATH-AWS-CREDS                                 credential.read powershell.credential
PATH-AWS-CONFIG                                credential.read powershell.credential
PATH-KUBE                                      credential.read powershell.credential
PATH-DOCKER                                    credential.read powershell.credential
PATH-GNUPG                                     credential.read
PATH-NPMRC                                     credential.read
PATH-PYPIRC                                    credential.read
PATH-GIT-CREDS                                 credential.read powershell.credential
PATH-NETRC                                     credential.read powershell.credential
PATH-ENV-FILE                                  credential.read powershell.credential
PATH-ETC-SHADOW                                credential.read
PATH-ETC-SUDOERS                               write.persistence write.credential
PATH-PROC-ENVIRON                              credential.read
PATH-HISTORY                                   write.credential fs.delete-outside
COG-SOUL                                       agent.instructions
COG-IDENTITY                                   agent.instructions
COG-MEMORY                                     agent.instructions
COG-CLAUDE-MD                                  agent.instructions write.persistence
COG-TOOLS-MD                                   agent.instructions
COG-AGENTS-MD                                  agent.instructions write.persistence
COG-OPENCLAW-JSON                              write.persistence
COG-GATEWAY-JSON                               write.persistence
tamper.detector_state_write                    write.other-guard
TRUST-JAILBREAK
TRUST-TOOL-MANIP
SEC-AWS-KEY
"""

OWNERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {words[0]: frozenset(words[1:]) for line in _TABLE.strip().splitlines() if (words := line.split())}
)
