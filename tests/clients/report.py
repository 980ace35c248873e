"""Checks the page of `sai duplicates --html` in a real browser, or makes a hostile tree to report on.

    python report.py check report.html [SHOTS]
    python report.py hostile FOLDER

SAI_CHROMIUM names a browser (else Playwright's own is taken), SAI_AXE the script of axe-core.
"""

import os
import sys
from pathlib import Path

SIZES = [(1280, 860), (390, 844)]
EVIL = "</script><img src=x onerror=alert(1)>"
BODY = """\
{head} compute_{name}(items, start):
    \"\"\"{evil} \u202e<!-- {name} -->\"\"\"
    total = start
    for item in items:
        if item.amount > 0 and item.label != "{evil}":
            total = total + item.amount * item.weight
        else:
            total = total - item.penalty
    result = normalise(total, len(items))
    return result, "\u2066{name}\u2069"
"""


def hostile(folder: Path) -> None:
    """Writes a tree whose names and code try to be markup."""
    names = ["a", "b'\"&", "c <img src=x onerror=alert(2)>", "d]](x) `e` |f|", "u\u0308\u6f22"]
    for at, name in enumerate(names):
        path = folder / f"src {name}" / f"file{at}{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BODY.format(head="def", name=f"total{at}", evil=EVIL), encoding="utf-8")


class Check:
    """One browser, and what went wrong in it."""

    def __init__(self, browser, page_file: Path, shots: Path | None):
        self.browser, self.page_file, self.shots = browser, page_file, shots
        self.wrong: list[str] = []

    def expect(self, fact: bool, what: str) -> None:
        if not fact:
            self.wrong.append(what)

    def open(self, width: int, height: int, scheme: str):
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        page = context.new_page()
        where = f"{width} {scheme}"
        page.on("console", lambda said: self.wrong.append(f"{where}: console: {said.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"{where}: error: {error}"))
        page.on("dialog", lambda dialog: self.wrong.append(f"{where}: dialog: {dialog.message}"))

        def requested(request):
            if request.url.split("#")[0] != self.page_file.as_uri():
                self.wrong.append(f"{where}: request: {request.url}")

        page.on("request", requested)
        page.goto(self.page_file.as_uri())
        return page

    def shot(self, page, name: str) -> None:
        if self.shots:
            page.screenshot(path=str(self.shots / f"{name}.png"))

    def accessible(self, page, where: str) -> None:
        axe = os.environ.get("SAI_AXE")
        if not axe:
            return
        # The page's policy admits no foreign script; the debugger's way in is not a page's.
        page.evaluate(Path(axe).read_text(encoding="utf-8"))
        # Further rows are like the first; looking at thousands of them takes minutes.
        found = page.evaluate(
            "axe.run({exclude: [['.list li:nth-child(n+16)'], ['.code tbody tr:nth-child(n+41)']]},"
            " {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        )
        for violation in found["violations"]:
            nodes = [f"{node['target']}: {node['failureSummary']}" for node in violation["nodes"][:3]]
            self.wrong.append(f"{where}: {violation['id']}: {nodes}")

    def fits(self, page, where: str) -> None:
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        self.expect(over <= 0, f"{where}: {over} pixels too wide")

    def looks(self, width: int, height: int, scheme: str) -> None:
        page = self.open(width, height, scheme)
        is_phone = width < 860
        where = f"{width} {scheme}"
        if is_phone:
            self.fits(page, f"{where} list")
            self.accessible(page, f"{where} list")
            self.shot(page, f"list-{width}-{scheme}")
        page.keyboard.press("m")
        for view in ["overview", "cluster"]:
            if view == "cluster" and page.locator(".row").count() > 0:
                page.evaluate("document.querySelector('.row').click()")
            self.fits(page, f"{where} {view}")
            self.accessible(page, f"{where} {view}")
            self.shot(page, f"{view}-{width}-{scheme}")
        page.context.close()

    def keys(self) -> None:
        page = self.open(*SIZES[0], "light")
        rows = page.locator(".row")
        count = rows.count()
        self.expect(count > 0, "no cluster in the list")
        if count == 0:
            return
        current = lambda: page.locator('.row[aria-current="true"]').get_attribute("data-id")
        page.keyboard.press("j")
        first = current()
        self.expect(first == rows.nth(0).get_attribute("data-id"), "j shows the first cluster")
        if count > 1:
            page.keyboard.press("j")
            self.expect(current() == rows.nth(1).get_attribute("data-id"), "j shows the next")
            page.keyboard.press("ArrowUp")
            self.expect(current() == first, "an arrow shows the one before")
        page.keyboard.press("Enter")
        self.expect(page.evaluate("document.activeElement.id") == "detail", "Enter opens")
        self.expect(page.url.endswith(f"#{first}"), "the address names the cluster")
        self.expect(page.locator("table.code mark, table.code td.n").count() > 0, "code is shown")
        page.keyboard.press("s")
        self.expect(page.locator("table.unified").count() == 1, "s changes the layout")
        page.keyboard.press("?")
        self.expect(page.locator("dialog[open]").count() == 1, "? shows the keys")
        page.keyboard.press("Escape")
        self.expect(page.locator("dialog[open]").count() == 0, "Esc closes them")
        page.keyboard.press("Escape")
        self.expect(page.locator("#overview-button[aria-pressed=true]").count() == 1, "Esc goes back")
        before = page.evaluate("document.documentElement.dataset.theme")
        page.keyboard.press("t")
        after = page.evaluate("document.documentElement.dataset.theme")
        self.expect({before, after} == {"light", "dark"}, "t changes the colours")
        page.keyboard.press("/")
        page.keyboard.type("no such thing anywhere")
        self.expect(rows.count() == 0, "the search filters")
        page.keyboard.press("Escape")
        self.expect(rows.count() == count, "Esc clears the search")
        page.context.close()

    def filters(self) -> None:
        page = self.open(*SIZES[0], "dark")
        rows = page.locator(".row")
        count = rows.count()
        chip = page.locator("#kinds button").first
        wanted = int(chip.inner_text().split()[-1].replace(",", ""))
        chip.click()
        page.evaluate("document.getElementById('more-filters').open = true")
        self.expect(rows.count() == wanted, "a kind's chip filters")
        page.locator("#reset").click()
        self.expect(rows.count() == count, "reset shows all")
        page.fill("#copies", "100000")
        self.expect(rows.count() == 0, "the least copies filter")
        page.locator("#reset").click()
        page.select_option("#order", "copies")
        copies = [int(text.split()[0].replace(",", ""))
                  for text in page.locator(".row .copies").all_inner_texts()]
        self.expect(copies == sorted(copies, reverse=True), "the order is by copies")
        page.locator("#reset").click()
        page.keyboard.press("m")
        pair = page.locator(".pairs button").first
        wanted = int(pair.locator(".amount").inner_text().split()[0].replace(",", ""))
        pair.click()
        self.expect(rows.count() == wanted, "a pair of the map filters")
        if page.locator(".map .cell").count() > 0:
            page.locator(".map .cell").first.click()
            self.expect(0 < rows.count() <= count, "a square of the map filters")
        page.locator("#reset").click()
        rows.first.click()
        radios = page.locator(".members input")
        if radios.count() > 1:
            radios.nth(1).check()
            label = page.locator(".members label:has(:checked) .path").inner_text()
            head = page.locator("table.code th .mono").nth(1).inner_text()
            self.expect(label.startswith(head), "the chosen member is compared")
        page.fill(".verdict input", "it's two protocols")
        said = page.locator(".command code").first.inner_text()
        self.expect("--because 'it'\\''s two protocols'" in said, f"a reason is quoted: {said}")
        page.context.close()


def check(page_file: Path, shots: Path | None) -> int:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("SAI_CHROMIUM") or None,
            # Containers have neither user namespaces nor much shared memory.
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        checks = Check(browser, page_file.resolve(), shots)
        for width, height in SIZES:
            for scheme in ["light", "dark"]:
                checks.looks(width, height, scheme)
        checks.keys()
        checks.filters()
        browser.close()
    for line in checks.wrong:
        print(line, file=sys.stderr)
    if checks.wrong:
        return 1
    print("page: looked at in two widths and two colours; keys, filters and accessibility hold")
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["hostile", folder]:
            hostile(Path(folder))
        case ["check", page, *shots]:
            folder = Path(shots[0]) if shots else None
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
            sys.exit(check(Path(page), folder))
        case _:
            sys.exit(__doc__)
