"""Which modules of a Rust crate use which, as far as paths tell: a rough reading of ``use`` and of paths in code."""

import re

WORD = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")


PLACED = re.compile(r"""path = "([^"]+)"\)?\](?:\s*#\[[^\]]*\])*\s*mod (\w+);""")


def modules(crate):
    """The files of a crate by the paths of their modules, those of tests left out; of several for one module the first."""
    found = {}
    for path in (crate / "src").rglob("*.rs"):
        parts = path.relative_to(crate / "src").with_suffix("").parts
        if "tests" not in parts and "bin" not in parts:
            found[parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts] = path
    placed = {
        path.parent / file: (*name, inner)
        for name, path in found.items()
        for file, inner in reversed(PLACED.findall(path.read_text()))
    }
    for name, path in list(found.items()):
        if path in placed:
            del found[name]
    for path, name in placed.items():
        found[name] = path
    return found


def code(path):
    """The text of a file without comments and tests."""
    text = re.sub(r"//[^\n]*|\(in [\w:]+\)", "", path.read_text())
    return re.sub(r"#\[cfg\(test\)\]\s*mod \w+\s*\{.*", "", text, flags=re.DOTALL)


def spread(text, before=()):
    """The paths of a tree of imports."""
    depth, item, items = 0, "", []
    for letter in text + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            items.append(item.strip())
            item = ""
        else:
            item += letter
    for item in filter(None, items):
        head, brace, body = item.partition("{")
        steps = (*before, *(step.split(" as ")[0].strip() for step in head.split("::") if step.strip()))
        if brace:
            yield from spread(body.rstrip()[:-1], steps)
        else:
            yield steps


class Crate:
    """The modules of a crate, and what they give on under names of their own."""

    def __init__(self, crate):
        self.files = modules(crate)
        self.text = {name: code(path) for name, path in self.files.items()}
        self.given_on = {name: {} for name in self.files}
        for name, text in self.text.items():
            for public, tree in USE.findall(text):
                for path in spread(tree) if public else ():
                    found = self.found(name, path)
                    if found is not None and found[0] != name:
                        self.given_on[name][path[-1]] = found

    def found(self, name, path):
        """The module that a path leads to, and what is left of the path; nothing outside of the crate."""
        here, rest = name, list(path)
        if rest[0] == "crate":
            here, rest = (), rest[1:]
        elif rest[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                here = here[:-1] if rest.pop(0) == "super" else here
        elif (*here, rest[0]) not in self.files:
            return None
        while rest and (*here, rest[0]) in self.files:
            here, rest = (*here, rest[0]), rest[1:]
        return here, rest

    def home(self, place):
        """The module where something is that others give on."""
        here, rest = place
        for _ in range(6):
            if not rest or rest[0] not in self.given_on.get(here, {}):
                break
            here, more = self.given_on[here][rest[0]]
            rest = [*more, *rest[1:]]
        return here

    def used(self, name):
        """The modules that a module uses; what it only gives on does not count."""
        text = self.text[name]
        paths = [path for public, tree in USE.findall(text) if not public for path in spread(tree)]
        paths += [tuple(word.split("::")) for word in WORD.findall(USE.sub("", text))]
        places = filter(None, (self.found(name, path) for path in paths))
        return {self.home(place) for place in places} - {name}

    def circles(self):
        """Groups of modules of which each uses every other, if by way of some: strongly connected, as it is called."""
        uses = {name: self.used(name) & set(self.files) for name in self.files}
        reached = {}
        for name in uses:
            seen, ahead = set(), [name]
            while ahead:
                new = uses[ahead.pop()] - seen
                seen |= new
                ahead += new
            reached[name] = seen
        groups = {
            frozenset(other for other in seen if name in reached[other])
            for name, seen in reached.items()
            if name in seen
        }
        return sorted(sorted("::".join(name) or "lib" for name in group) for group in groups)
