"""Variables of a makefile that it need not set: make's own, and programs by the names that GNU gives them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_PROGRAMS: Final = """
    MAKE CC AR AS LD NM STRIP RANLIB OBJCOPY OBJDUMP INSTALL MKDIR SED AWK GREP EGREP FIND XARGS TAR CP MV LN
    CHMOD TOUCH CAT ECHO TEST SORT DIFF PATCH CMAKE NINJA MESON PKG_CONFIG LIBTOOL LEX YACC BISON FLEX PYTHON
    PYTHON3 PERL RUBY NODE NPM YARN PNPM GO GOFMT CARGO RUSTC JAVA JAVAC MVN GRADLE PHP COMPOSER PIP PIP3 UV
    POETRY DOCKER PODMAN GIT CURL WGET HELM KUBECTL TERRAFORM SHELLCHECK DOXYGEN MSGFMT MSGMERGE XGETTEXT
    XSLTPROC ASCIIDOC XMLTO PANDOC
"""
PRESET: Final[Mapping[str, str]] = MappingProxyType(
    {name: name.lower().replace("_", "-") for name in _PROGRAMS.split()}
    | {
        "RM": "rm -f",
        "CPP": "cc -E",
        "CXX": "c++",
        "CURDIR": ".",
        "LN_S": "ln -s",
        "MKDIR_P": "mkdir -p",
        "INSTALL_PROGRAM": "install",
        "INSTALL_SCRIPT": "install",
        "INSTALL_DATA": "install -m 644",
        "LINK.c": "cc",
        "LINK.cc": "c++",
        "LINK.o": "cc",
        "COMPILE.c": "cc -c",
        "COMPILE.cc": "c++ -c",
    }
)
