"""The seed corpus and the dictionary of a fuzz run, written anew from the grammar: `corpus.py DIRECTORY`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from shellfuzz.programs import seeded
from shellfuzz.vocabulary import NOISE

SEEDS: Final = 1500
MAX_BYTES: Final = 512
TOKENS: Final = (
    *NOISE,
    *"""
if then else elif fi for while until do done case esac select in function time coproc ! { } [[ ]] &&
|| ;; ;& ;;& |& & | < > >> <<- <<< <> >| >& <& &> &>> $( ${ $(( )) `  $[ <( >( $' $" :- := :+ ## %%
// ^^ ,, @P ${! [@] [*] += eval exec source . trap alias export declare local typeset read printf
mapfile unset let test [ ] set shift bash sh -c env xargs sudo command builtin find -exec ssh git
python3 docker kubectl curl rm -rf mk x= $x ${x} "$@" $1 ~ * ? {a,b} {1..9} ?( @( +( \\ \\\\ # EOF
'EOF' /tmp /dev/tcp/a/1 /dev/null 2>&1 --help -- -e -x IFS= PS4= PATH= HOME cd .. sed awk sqlite3
tar dd psql perl node make npm pip
""".split(),
)


def write(directory: Path) -> Path:
    """Write the corpus below ``directory``; the dictionary's path."""
    corpus = directory / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(SEEDS):
        data = seeded(seed).encode()
        if len(data) <= MAX_BYTES:
            (corpus / f"seed-{seed}").write_bytes(data)
    dictionary = directory / "tokens.dict"
    escaped = ("".join(f"\\x{byte:02x}" for byte in token.encode()) for token in dict.fromkeys(TOKENS))
    dictionary.write_text("".join(f'"{token}"\n' for token in escaped))
    return dictionary


if __name__ == "__main__":
    write(Path(sys.argv[1]))
