"""Name look-ups, reachability probes, scanners, openssl and local network tools."""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import Contact, Context, Description
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import aimed, neutral, program


def _resolves(parsed: Parsed, _context: Context) -> Description:
    """dig, host, nslookup: names leave the machine as questions; @server says to whom."""
    names = [word for word in parsed.operands if not word.value.startswith(("@", "+", "-"))]
    return Description(
        known=True,
        operations=(Operation.CONNECT,),
        targets=aimed(Access.READ, parsed.values("f")),
        contacts=tuple(
            Contact(NetAction.DNS, word)
            for word in names
            if "." in word.value or "\0" in word.value or word.value == "localhost"
        ),
    )


def _pings(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("g", "generate"):  # fping: every address of a range
        return Description(
            known=True,
            operations=(Operation.NETWORK_SCAN, Operation.CONNECT),
            contacts=tuple(
                Contact(NetAction.SCAN, word) for word in (*parsed.values("g", "generate"), *parsed.operands)
            ),
        )
    return Description(
        known=True,
        operations=(Operation.CONNECT,),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in parsed.operands[:1]),
    )


def _sweeps(parsed: Parsed, _context: Context) -> Description:
    """Whoever answers on the local network."""
    return Description(
        known=True,
        operations=(Operation.NETWORK_SCAN, Operation.CONNECT),
        contacts=tuple(Contact(NetAction.SCAN, word) for word in (*parsed.values("range"), *parsed.operands)),
    )


def _scans(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.NETWORK_SCAN, Operation.CONNECT),
        targets=(
            *aimed(Access.READ, parsed.values("iL", "f")),
            *aimed(Access.WRITE, parsed.values("oN", "oX", "oG", "oA", "oS")),
        ),
        contacts=tuple(Contact(NetAction.SCAN, word) for word in parsed.operands),
    )


def _openssl(parsed: Parsed, _context: Context) -> Description:
    """openssl COMMAND …: s_client connects; a private key read is printed unless -noout."""
    verb = parsed.operands[0].value if parsed.operands else ""
    read, written = (
        parsed.values("in", "inkey", "key", "CAfile", "cert", "kfile"),
        parsed.values("out", "keyout"),
    )
    operations: list[Operation] = []
    contacts: list[Contact] = []
    details: list[str] = []
    if verb in ("s_client", "s_time", "ocsp"):
        operations.append(Operation.CONNECT)
        peers = (*parsed.values("connect", "url", "host", "proxy"), *parsed.operands[1:2])
        contacts = [Contact(NetAction.CONNECT, word) for word in peers]
    elif verb == "s_server":
        operations.append(Operation.LISTEN)
        details.append("listener")
    elif verb in ("rsa", "pkey", "ec", "dsa", "pkcs8", "pkcs12") and not parsed.has(
        "pubin", "noout", "pubout"
    ):
        operations.append(Operation.CREDENTIAL_READ)
    elif (verb in ("enc", "base64") or verb.startswith(("aes", "des"))) and parsed.has("d"):
        operations.append(Operation.DECODE)
    operations += [Operation.READ] if read else []
    operations += [Operation.WRITE] if written else []
    return Description(
        known=True,
        operations=tuple(operations),
        targets=(*aimed(Access.READ, read), *aimed(Access.WRITE, written)),
        contacts=tuple(contacts),
        details=tuple(details),
        reads_stdin=not read,
        writes_stdout=not written,
    )


def _looks_up(parsed: Parsed, _context: Context) -> Description:
    """getent: only hosts, ahosts and the like ask the network; shadow holds password hashes."""
    base = parsed.operands[0].value if parsed.operands else ""
    if base in ("shadow", "gshadow"):
        return Description(known=True, operations=(Operation.CREDENTIAL_READ,))
    if base not in ("hosts", "ahosts", "ahostsv4", "ahostsv6"):
        return Description(known=True)
    names: tuple[Argument, ...] = parsed.operands[1:]
    return Description(
        known=True,
        operations=(Operation.CONNECT,) if names else (),
        contacts=tuple(Contact(NetAction.DNS, word) for word in names),
    )


def _configures_network(parsed: Parsed, _context: Context) -> Description:
    """ip, ifconfig, route, iptables …: shows unless a verb changes something."""
    changing = {
        "add",
        "del",
        "delete",
        "set",
        "flush",
        "replace",
        "change",
        "up",
        "down",
        "append",
        "enable",
        "disable",
        "reset",
        "allow",
        "deny",
    }
    words = {word.value for word in parsed.operands}
    changes = bool(words & changing) or parsed.has("A", "D", "I", "F", "X", "P", "R", "N", "w", "write")
    return Description(known=True, operations=(Operation.CONFIG_CHANGE,) if changes else ())


PROGRAMS: Final = (
    program(
        "dig nslookup host drill kdig resolvectl delv whois",
        "~ b= c= f= k= p= q= t= x= y= h= W= R= N= i= m= type=",
        _resolves,
        {
            "dig +short example.com @1.1.1.1": "connect dns@example.com",
            "host $X.example.com": "connect dns@$.example.com",
            "nslookup example.com": "connect dns@example.com",
        },
        style=Style.PERMUTE,
    ),
    program(
        "ping ping6 hping3 traceroute traceroute6 tracepath mtr arping nping tcptraceroute",
        "~ c= i= I= l= m= M= p= Q= s= S= t= T= w= W= f= q= g= z= N= P= F= d=",
        _pings,
        {
            "ping -c 3 example.com": "connect connect@example.com",
            "traceroute example.com": "connect connect@example.com",
        },
    ),
    program(
        "fping",
        "~ g,generate c,count= C,vcount= f,file= H,ttl= i,interval= I,iface= S,src= O,tos= p,period= "
        "r,retry= t,timeout= B,backoff= b,size= x,reachable= k,fwmark=",
        _pings,
        {
            "fping example.com": "connect connect@example.com",
            "fping -ag 10.0.0.0/24": "network_scan connect scan@10.0.0.0/24",
            "fping -g 10.0.0.1 10.0.0.9": "network_scan connect scan@10.0.0.1 scan@10.0.0.9",
        },
    ),
    program(
        "arp-scan netdiscover nbtscan",
        "~ I,interface= i= r,range= f,file= t,timeout= p l,localnet",
        _sweeps,
        {
            "arp-scan --localnet": "network_scan connect",
            "netdiscover -r 10.0.0.0/24": "network_scan connect scan@10.0.0.0/24",
            "nbtscan 10.0.0.0/24": "network_scan connect scan@10.0.0.0/24",
            "arp-scan --help": "preview",
        },
        previews="help version h",
    ),
    program(
        "nmap masscan zmap naabu rustscan nikto nuclei gobuster ffuf dirb hydra sqlmap amass subfinder",
        "~ p= e= T= S= D= oN= oX= oG= oA= oS= iL= script= script-args= exclude= g= max-rate= rate= "
        "top-ports= u= w= l= f=",
        _scans,
        {
            "nmap -p 22 10.0.0.0/24": "network_scan connect scan@10.0.0.0/24",
            "nmap -sV -oN out example.com": "network_scan connect write:out scan@example.com",
        },
        style=Style.DASHED,
    ),
    program(
        "openssl",
        "~ in= out= inkey= key= keyout= CAfile= CApath= cert= connect= servername= url= host= proxy= "
        "pass= passin= passout= "
        "k= kfile= K= iv= subj= days= newkey= config= nodes noout pubin pubout d e text inform= "
        "outform= starttls= cipher= port= "
        "accept= www WWW hex rand= md= iter= name= certfile= CAkey= CA= set_serial= extfile= "
        "extensions= addext= checkend=",
        _openssl,
        {
            "openssl s_client -connect example.com:443": "connect connect@example.com:443 <stdin",
            "openssl s_server -accept 4433 -cert c.pem": "listen read read:c.pem +listener",
            "openssl rsa -in k.pem": "credential_read read read:k.pem",
            "openssl x509 -in c.pem -noout -text": "read read:c.pem",
            "openssl enc -d -aes-256-cbc -in a -out b": "decode read write read:a write:b >none",
            "openssl rand -hex 16": "<stdin",
            "openssl pkey -in k -pubout": "read read:k",
        },
        style=Style.DASHED,
    ),
    program(
        "getent",
        "~ s=",
        _looks_up,
        {
            "getent hosts example.com": "connect dns@example.com",
            "getent passwd me": "",
            "getent shadow": "credential_read",
        },
    ),
    program(
        "ip ifconfig route iptables ip6tables nft ufw firewall-cmd arp ethtool iwconfig nmcli tc "
        "bridge sysctl networksetup scutil netsh",
        "~ n= c= f= A= D= I= F? X? P= R= N= j= p= s= d= t= w,write",
        _configures_network,
        {
            "ip addr": "",
            "ip link set eth0 down": "config_change",
            "iptables -F": "config_change",
            "ifconfig": "",
            "sysctl -w a=1": "config_change",
        },
    ),
    program(
        "netstat ss tcpdump tshark wireshark iftop nethogs ipcalc hostnamectl iw",
        "~ i= w= r= c= s= f=",
        neutral,
        {"ss -tlnp": "", "netstat -an": ""},
    ),
)
