#!/usr/bin/env python3
"""Runs a sample of cargo-mutants' mutants from one build (docs/MUTATION.md).

usage: mutants.py choose ALL_JSON POOL NAMES OUT_JSON    the mutants of a list of names, each with its number in the pool
       mutants.py switch SAMPLE_JSON COPY   put the sampled mutants into COPY, a copy of this repository
       mutants.py run TEST_BINARY SAMPLE_JSON COPY RESULTS [PROCESSES]

`switch` writes each function that has mutants in the sample with a `match` on FENCEPOST_MUTANT around copies of its body,
one for each mutant, the text changed where cargo-mutants changes it. It then asks `cargo check` which copies do not
compile, leaves those out, and lists them in COPY/unviable.txt. `run` runs the test once without a mutant, which has to
pass, then once for each mutant that is left, up to the first difference or the end. A line of RESULTS is the outcome, the
seconds and the mutant; those that are there already are not run again. The sample of `run` may be a part of `switch`'s.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

CORES = "impl/src"


class Text:
    def __init__(self, text):
        self.text = text
        self.lines = [0] + [at + 1 for at, letter in enumerate(text) if letter == "\n"]

    def at(self, place):
        return self.lines[place["line"] - 1] + place["column"] - 1


def body(text, start, end):
    """Where `fn` and the body's opening brace are in a function's span."""
    at = re.compile(r"\bfn\s+\w+").search(text, start, end)
    depth, i = 0, at.end()
    while text[i] != "{" or depth:
        if text.startswith("//", i):
            i = text.index("\n", i)
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[i], 0)
        i += 1
    return at.start(), i


def switched(source, mutants):
    """The file's text with its mutants, and which lines each of them has."""
    source = Text(source)
    text = source.text
    by_function = {}
    for mutant in mutants:
        span = mutant["function"]["span"]
        by_function.setdefault((source.at(span["start"]), source.at(span["end"])), []).append(mutant)
    out, regions, last = "", [], 0
    for (start, end), mine in sorted(by_function.items()):
        function, brace = body(text, start, end)
        close = text.rindex("}", start, end)
        inner = text[brace + 1 : close]
        # A const function cannot look at a switch.
        head = re.sub(r"\bconst\s+$", "", text[start:function])
        out += text[last:start] + head + text[function:brace]
        # An opaque iterator has one type, so it is emptied by a filter.
        emptied = [it["id"] for it in mine if it["replacement"] == "::std::iter::empty()"]
        out += "{ let all = {" if emptied else "{"
        out += " match crate::mutant() {\n"
        for mutant in mine:
            if mutant["id"] in emptied:
                continue
            first = out.count("\n") + 1
            a, b = source.at(mutant["span"]["start"]), source.at(mutant["span"]["end"])
            out += "%d => {%s\n}\n" % (mutant["id"], text[brace + 1 : a] + mutant["replacement"] + text[b:close])
            regions.append((first, out.count("\n") + 1, mutant["id"]))
        out += "_ => {" + inner + "} }"
        out += "}; all.filter(|_| !%s.contains(&crate::mutant())) }" % emptied if emptied else " }"
        last = close + 1
    return out + text[last:], regions


SWITCH = """
/// Which mutant is on; 0 for none.
pub(crate) fn mutant() -> u32 {
    static MUTANT: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        let chosen = std::env::var("FENCEPOST_MUTANT").ok();
        chosen.and_then(|it| it.parse().ok()).unwrap_or(0)
    });
    *MUTANT
}
"""


def unviable(copy, regions):
    """The mutants whose lines the compiler complains of; none where it is content."""
    command = ["cargo", "check", "--message-format=json", "-p", "fencepost", "--lib"]
    environment = {**os.environ, "RUSTFLAGS": "-Awarnings"}
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, env=environment)
    found, strange = set(), []
    for line in filter(lambda it: it.startswith("{"), done.stdout.splitlines()):
        message = json.loads(line).get("message")
        if not isinstance(message, dict) or message.get("level") != "error":
            continue
        # Where two arms do not agree, the compiler may point at the last one first.
        spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
        hits = (
            {it for first, last, it in regions.get(span["file_name"], []) if first <= span["line_start"] <= last}
            for span in spans
        )
        of_this = next(filter(None, hits), set())
        found |= of_this
        if not of_this and message["spans"]:
            strange.append(message["rendered"])
    if done.returncode and not found:
        sys.exit("\n".join(strange) or done.stderr)
    return found


def switch(sample, copy):
    mutants = json.load(open(sample))
    left_out = set()
    while True:
        shutil.copytree(CORES, os.path.join(copy, CORES), dirs_exist_ok=True)
        regions = {}
        for file in {mutant["file"] for mutant in mutants}:
            mine = [it for it in mutants if it["file"] == file and it["id"] not in left_out]
            text, regions[file] = switched(open(file).read(), mine)
            with open(os.path.join(copy, file), "w") as out:
                out.write(text)
        with open(os.path.join(copy, CORES, "lib.rs"), "a") as out:
            out.write(SWITCH)
        found = unviable(copy, regions)
        if not found:
            break
        left_out |= found
    with open(os.path.join(copy, "unviable.txt"), "w") as out:
        out.writelines("%s\n" % it["name"] for it in mutants if it["id"] in left_out)
    print(len(mutants) - len(left_out), "viable,", len(left_out), "not")


# A mutant that does not come to its end within this many times the time of none, and never less than the second number
# in seconds, never will.
SLOWER, AT_LEAST = 5, 120


def choose(everything, pool, names, out):
    known = {mutant["name"]: mutant for mutant in json.load(open(everything))}
    numbers = {name: number for number, name in enumerate(open(pool).read().splitlines(), 1)}
    chosen = [{**known[name], "id": numbers[name]} for name in open(names).read().splitlines()]
    json.dump(chosen, open(out, "w"))


def run(binary, sample, copy, results, processes="1"):
    def outcome(number, limit):
        began = time.time()
        environment = {**os.environ, "FENCEPOST_MUTANT": str(number)}
        where = os.path.join(copy, "conformance")
        try:
            done = subprocess.run([binary], cwd=where, env=environment, capture_output=True, timeout=limit)
            result = "killed" if done.returncode else "SURVIVED"
        except subprocess.TimeoutExpired:
            result = "timeout"
        return result, time.time() - began

    passed, seconds = outcome(0, None)
    if passed != "SURVIVED":
        sys.exit("the test does not pass without a mutant")
    print("%.1f s without a mutant" % seconds)
    left_out = set(open(os.path.join(copy, "unviable.txt")).read().splitlines())
    known = open(results).read().splitlines() if os.path.exists(results) else []
    left_out |= {line.split("\t")[2] for line in known}
    mutants = [it for it in json.load(open(sample)) if it["name"] not in left_out]
    one_by_one = threading.Lock()

    def judge(mutant):
        result, took = outcome(mutant["id"], max(SLOWER * seconds, AT_LEAST))
        with one_by_one, open(results, "a") as out:
            out.write("%s\t%.1f s\t%s\n" % (result, took, mutant["name"]))

    with concurrent.futures.ThreadPoolExecutor(int(processes)) as pool:
        list(pool.map(judge, mutants))
    outcomes = collections.Counter(line.split("\t")[0] for line in open(results))
    print(", ".join("%d %s" % (count, word) for word, count in sorted(outcomes.items())))


if __name__ == "__main__":
    {"choose": choose, "switch": switch, "run": run}[sys.argv[1]](*sys.argv[2:])
