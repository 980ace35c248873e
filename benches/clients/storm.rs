//! Servers that are asked at a steady rate, and a writer that edits, indexes and is killed beside
//! them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Args;
use crate::client::{Server, Usage, processes_in, sai};
use crate::oracle::{
    Allowed, MARKERS, Marks, Oracle, QUESTION, edit_line, generation_of, marker_path, marker_text,
};
use crate::report::{Report, mib, times};
use crate::tree::{Random, Tree};

/// How long nothing is asked at the start, to see what idle servers cost.
const IDLE: Duration = Duration::from_secs(5);
/// How long servers are asked before the first edit.
const QUIET: Duration = Duration::from_secs(10);
/// More of a core than this an idle server may not take, in percent.
const IDLE_CPU_MAX: f64 = 1.0;
/// The index folder may hold so many times what one fresh index takes: two generations, a private
/// copy, a rewritten copy of that, and rows that nothing uses any more.
const DISK_TIMES_MAX: u64 = 6;
/// A folder smaller than this may be any number of times what an index takes.
const DISK_BYTES_MIN: u64 = 32 << 20;

/// What agents ask, besides the markers.
const QUESTIONS: [&str; 8] = [
    "where is the configuration read",
    "how is an error reported to the user",
    "parse the command line arguments",
    "retry after a failed request",
    "write a file atomically",
    "clients marker value revision",
    "test that bad input is refused",
    "open a connection",
];

/// What the threads share.
#[derive(Default)]
struct Shared {
    oracle: Oracle,
    done: AtomicBool,
    /// Writers that run now.
    writing: AtomicBool,
    /// The newest generation that is known to be published.
    published: AtomicU64,
}

/// What one server's client saw.
#[derive(Default)]
struct Seen {
    quiet: Vec<Duration>,
    writing: Vec<Duration>,
    wrong: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::default();
    if let Err(error) = storm(args, &mut report) {
        report.violation(error);
    }
    report
}

fn storm(args: &Args, report: &mut Report) -> Result<(), String> {
    let seed = args.seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
    });
    report.row("seed", seed);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Tree::copy(args.tree.as_deref().unwrap_or(here))?;
    let shared = Shared::default();
    let mut writer = Writer::new(args, &tree, &shared, seed);
    let fresh = writer.first_index()?;
    report.row("files", fresh["files"].clone());
    report.row("chunks", fresh["chunks"].clone());

    let start = |_| Server::start(&args.sai, tree.path(), &[]);
    let mut servers = (0..args.servers).map(start).collect::<Result<Vec<_>, _>>()?;
    for server in &mut servers {
        // The index and the model are opened by the first question.
        server.call("sai_search_code", &ask(0))?;
    }
    let ids: Vec<u32> = servers.iter().map(Server::id).collect();
    idle(&ids, report);
    let before: Vec<Usage> = ids.iter().copied().map(Usage::of).collect();

    let (seen, disk) = thread::scope(|threads| {
        let asking: Vec<_> = servers
            .iter_mut()
            .enumerate()
            .map(|(n, server)| {
                let (shared, root) = (&shared, tree.path());
                threads.spawn(move || client(n, server, args.rate, root, shared))
            })
            .collect();
        let watching = threads.spawn(|| watch(&tree.path().join(".index"), &ids, &shared));
        thread::sleep(QUIET);
        // A panic must not leave the others running for ever.
        let written = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            writer.write_until(Instant::now() + Duration::from_secs_f64(args.minutes * 60.0));
        }));
        shared.done.store(true, Ordering::Relaxed);
        let seen: Vec<Seen> = asking
            .into_iter()
            .map(|asked| asked.join().expect("a client does not panic"))
            .collect();
        let disk = watching.join().expect("the watch does not panic");
        written.expect("the writer does not panic");
        (seen, disk)
    });
    let after: Vec<Usage> = ids.iter().copied().map(Usage::of).collect();
    writer.finish(report)?;
    last_answers(&mut servers, &writer.marks(), &shared, report);
    for server in servers {
        server.close().unwrap_or_else(|error| report.violation(error));
    }
    for process in processes_in(tree.path()) {
        report.violation(format!("process {process} is left"));
    }
    tell(args, seen, &disk, fresh["index_bytes"].as_u64().unwrap_or(0), &shared, report);
    memory(&before, &after, report);
    tree.close().map_err(|error| format!("the copy cannot be removed: {error}"))
}

/// Question `n` as arguments of a search.
fn ask(n: usize) -> Value {
    match n % 4 {
        0 | 2 => json!({"query": QUESTION, "mode": "exact", "limit": 50, "include_text": true,
            "format": "json"}),
        _ => {
            let mode = ["hybrid", "lexical", "hybrid", "semantic"][n / 4 % 4];
            json!({"query": QUESTIONS[n / 2 % QUESTIONS.len()], "mode": mode, "limit": 3,
                "include_text": true, "format": "json"})
        }
    }
}

/// Asks one server at a steady rate and checks each answer.
fn client(n: usize, server: &mut Server, rate: u32, root: &Path, shared: &Shared) -> Seen {
    let mut seen = Seen::default();
    let every = Duration::from_secs(1) / rate;
    let mut next = Instant::now() + every * n as u32 / 8;
    let (mut asked, mut last) = (n, 0);
    while !shared.done.load(Ordering::Relaxed) {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        // Who is late asks at once, and does not catch up.
        next = Instant::now().max(next + every);
        let arguments = ask(asked);
        let busy = shared.writing.load(Ordering::Relaxed);
        let published = shared.published.load(Ordering::Relaxed);
        let sent = Instant::now();
        let answer = server.call("sai_search_code", &arguments);
        let took = sent.elapsed();
        let busy = busy || shared.writing.load(Ordering::Relaxed);
        if busy { &mut seen.writing } else { &mut seen.quiet }.push(took);
        let checked = answer.and_then(|answer| {
            let generation = generation_of(&answer)?;
            if generation < published.max(last) {
                return Err(format!(
                    "generation {generation} after {last} when {published} was published"
                ));
            }
            last = generation;
            if asked.is_multiple_of(2) {
                shared.oracle.marks(&answer)
            } else {
                shared.oracle.texts(root, &answer)
            }
        });
        seen.wrong.extend(checked.err().map(|error| format!("server {n}: {error}")));
        asked += 1;
    }
    seen
}

/// The most that was on disk: in the folder, and in removed files that servers kept open.
#[derive(Default)]
struct Disk {
    folder: u64,
    removed: u64,
}

fn watch(index: &Path, servers: &[u32], shared: &Shared) -> Disk {
    let mut most = Disk::default();
    while !shared.done.load(Ordering::Relaxed) {
        let entries = std::fs::read_dir(index).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len());
        most.folder = most.folder.max(sizes.sum());
        let removed = servers.iter().map(|server| Usage::of(*server).removed_bytes).sum();
        most.removed = most.removed.max(removed);
        thread::sleep(Duration::from_millis(100));
    }
    most
}

/// What was done to the index.
#[derive(Default)]
struct Done {
    runs: u64,
    killed: u64,
    killed_and_published: u64,
    edits: u64,
}

/// Edits files, runs writers, kills some.
struct Writer<'a> {
    args: &'a Args,
    tree: &'a Tree,
    shared: &'a Shared,
    random: Random,
    /// What is on disk.
    marks: Marks,
    /// What was on disk when the index was last brought up to date, and since.
    possible: Allowed,
    revision: u32,
    /// Files other than markers that are edited.
    others: Vec<String>,
    /// How long each kind of run takes of late, and a server's sync.
    usual: [Duration; 4],
    generation: u64,
    done: Done,
    wrong: Vec<String>,
}

/// The kinds of runs.
const RUNS: [&[&str]; 3] = [&["index"], &["index", "--force"], &["sync"]];

impl<'a> Writer<'a> {
    fn new(args: &'a Args, tree: &'a Tree, shared: &'a Shared, seed: u64) -> Self {
        Self {
            args,
            tree,
            shared,
            random: Random::new(seed),
            marks: Marks::default(),
            possible: Allowed::default(),
            revision: 0,
            others: Vec::new(),
            usual: [Duration::ZERO; 4],
            generation: 0,
            done: Done::default(),
            wrong: Vec::new(),
        }
    }

    fn marks(&self) -> Marks {
        self.marks
    }

    /// Writes the markers, commits, and indexes for the first time.
    fn first_index(&mut self) -> Result<Value, String> {
        self.others = self.editable();
        (0..MARKERS).for_each(|marker| self.mark(marker, true));
        self.tree.commit("start");
        self.settle();
        let args = ["index", "--json"];
        let started = Instant::now();
        let done = sai(&self.args.sai, self.tree.path(), &args).output();
        let done = done.map_err(|error| format!("cannot run the binary: {error}"))?;
        self.usual = [started.elapsed(); 4];
        self.note();
        serde_json::from_slice(&done.stdout).map_err(|_| {
            format!("the first index failed: {}", String::from_utf8_lossy(&done.stderr))
        })
    }

    /// Small files that may get another line at their end.
    fn editable(&self) -> Vec<String> {
        let files = std::process::Command::new("git")
            .current_dir(self.tree.path())
            .args(["ls-files", "-z", "--others", "--exclude-standard"])
            .output();
        let files = files.expect("git is installed").stdout;
        let names = String::from_utf8_lossy(&files).into_owned();
        let suits = |name: &&str| {
            let code =
                [".rs", ".js", ".ts", ".go", ".c", ".java"].iter().any(|e| name.ends_with(e));
            let text = std::fs::read_to_string(self.tree.path().join(name)).unwrap_or_default();
            code && text.ends_with('\n') && text.len() < 100_000
        };
        names.split('\0').filter(suits).map(str::to_owned).collect()
    }

    /// Gives a marker its next revision, or removes its file.
    fn mark(&mut self, marker: usize, stays: bool) {
        self.done.edits += 1;
        if stays {
            self.revision += 1;
            self.marks[marker] = self.revision;
            self.tree.write(&marker_path(marker), &marker_text(marker, self.revision));
        } else {
            self.marks[marker] = 0;
            self.tree.remove(&marker_path(marker));
        }
        self.possible[marker].insert(self.marks[marker]);
    }

    /// From now on only what is on disk now is possible in a generation.
    fn settle(&mut self) {
        self.possible = self.marks.map(|mark| BTreeSet::from([mark]));
    }

    /// Changes a few files.
    fn edit(&mut self) {
        for _ in 0..=self.random.below(3) {
            let marker = self.random.below(MARKERS);
            let stays = self.random.chance(85);
            self.mark(marker, stays);
        }
        if !self.others.is_empty() && self.random.chance(50) {
            let file = self.others[self.random.below(self.others.len())].clone();
            self.shared.oracle.learn(self.tree.path(), &file);
            let text = std::fs::read_to_string(self.tree.path().join(&file)).expect("ours");
            let kept = text.lines().filter(|line| !line.starts_with("// clients edit "));
            let kept: String = kept.map(|line| format!("{line}\n")).collect();
            self.revision += 1;
            self.done.edits += 1;
            self.tree.write(&file, &format!("{kept}{}\n", edit_line(self.revision)));
        }
        if self.random.chance(10) {
            self.tree.commit("edits");
        }
    }

    fn write_until(&mut self, end: Instant) {
        while Instant::now() < end {
            self.edit();
            self.settle();
            self.shared.writing.store(true, Ordering::Relaxed);
            if self.random.chance(20) {
                self.serve();
            } else {
                self.round();
            }
            self.note();
            self.shared.writing.store(false, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(self.random.below(300) as u64));
        }
    }

    /// Runs one or two writers, kills some of them, and notes what they published.
    fn round(&mut self) {
        let kind = match self.random.below(100) {
            0..25 => 1,
            25..50 => 2,
            _ => 0,
        };
        let started = Instant::now();
        let first = self.start(kind);
        let second = self.random.chance(15).then(|| self.start(0));
        if self.random.chance(30) {
            // While they run: they may see it or not.
            let marker = self.random.below(MARKERS);
            self.mark(marker, true);
        }
        if self.random.chance(40) {
            let moment = self.usual[kind].mul_f64(self.random.below(1100) as f64 / 1000.0);
            thread::sleep(moment.saturating_sub(started.elapsed()));
            let before = self.generation;
            self.kill(first);
            self.note();
            self.done.killed_and_published += u64::from(self.generation > before);
        } else {
            self.end(first, RUNS[kind]);
            self.usual[kind] = (self.usual[kind] * 3 + started.elapsed()) / 4;
        }
        if let Some(second) = second {
            self.end(second, RUNS[0]);
        }
    }

    /// Lets a server bring the index up to date, and kills some at it.
    fn serve(&mut self) {
        const SERVED: usize = 3;
        self.done.runs += 1;
        let (tool, nothing) = ("sai_sync", json!({}));
        let server = Server::start(&self.args.sai, self.tree.path(), &["--allow-write"]);
        let started = Instant::now();
        let done = server.and_then(|mut server| {
            if self.random.chance(40) {
                server.begin(tool, &nothing)?;
                let share = self.random.below(1100) as f64 / 1000.0;
                thread::sleep(self.usual[SERVED].mul_f64(share));
                self.done.killed += 1;
                drop(server);
                return Ok(());
            }
            server.call(tool, &nothing)?;
            self.usual[SERVED] = (self.usual[SERVED] * 3 + started.elapsed()) / 4;
            server.close()
        });
        self.wrong.extend(done.err());
    }

    fn start(&mut self, kind: usize) -> Child {
        self.done.runs += 1;
        let patient = ["--set", "limits.lock_wait_s=600"];
        let args = [&patient[..], RUNS[kind]].concat();
        sai(&self.args.sai, self.tree.path(), &args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    fn kill(&mut self, mut child: Child) {
        self.done.killed += 1;
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }

    /// Waits for a writer that nobody kills: it must end well.
    fn end(&mut self, child: Child, args: &[&str]) {
        let done = child.wait_with_output().expect("it is ours");
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            self.wrong.push(format!("sai {}: {}: {}", args.join(" "), done.status, said.trim()));
        }
    }

    /// Notes what the generations since the last look can hold.
    fn note(&mut self) {
        let line = std::fs::read_to_string(self.tree.path().join(".index/CURRENT"));
        let number = line.ok().and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
        if number < self.generation {
            self.wrong.push(format!("generation {number} follows {}", self.generation));
        }
        for generation in self.generation + 1..=number {
            self.shared.oracle.note(generation, &self.possible);
        }
        self.generation = number;
        self.shared.published.store(number, Ordering::Relaxed);
    }

    /// One last run: after it the index equals the tree, and nothing is left of those that died.
    fn finish(&mut self, report: &mut Report) -> Result<(), String> {
        self.settle();
        let last = self.start(0);
        self.end(last, RUNS[0]);
        self.note();
        let index = self.tree.path().join(".index");
        for name in leftovers(&index)? {
            report.violation(format!("`{name}` is left in the index folder"));
        }
        let kept = self.totals(&index)?;
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let set = format!("index_dir={}", scratch.path().display());
        let args = ["--set", &set, "index", "--json"];
        let made = sai(&self.args.sai, self.tree.path(), &args).output();
        let made: Value = serde_json::from_slice(&made.map_err(|e| e.to_string())?.stdout)
            .map_err(|error| format!("an index from nothing failed: {error}"))?;
        let made = ["files", "chunks", "lines"].map(|name| made[name].clone());
        if kept != made {
            report.violation(format!("the index holds {kept:?}, one from nothing {made:?}"));
        }
        let Done { runs, killed, killed_and_published, edits } = self.done;
        report.row(
            "writer",
            json!({"edits": edits, "runs": runs, "killed": killed,
                "killed_after_publishing": killed_and_published}),
        );
        std::mem::take(&mut self.wrong).into_iter().for_each(|wrong| report.violation(wrong));
        Ok(())
    }

    fn totals(&self, index: &Path) -> Result<[Value; 3], String> {
        let done = sai(&self.args.sai, self.tree.path(), &["status", "--json"]).output();
        let status: Value = serde_json::from_slice(&done.map_err(|e| e.to_string())?.stdout)
            .map_err(|error| format!("no status of `{}`: {error}", index.display()))?;
        Ok(["files", "chunks", "lines"].map(|name| status[name].clone()))
    }
}

/// What must not be in an index folder that nobody writes to.
fn leftovers(index: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(index).map_err(|error| error.to_string())?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let (code, others): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("code-"));
    let published = |name: &String| {
        let number = name.strip_prefix("code-").and_then(|name| name.strip_suffix(".duckdb"));
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let (published, private): (Vec<_>, Vec<_>) = code.into_iter().partition(published);
    let mut left = private;
    left.extend(others.into_iter().filter(|name| name.contains("tmp")));
    if published.len() > 2 {
        left.extend(published);
    }
    Ok(left)
}

/// After the last run every server shows what is on disk.
fn last_answers(servers: &mut [Server], marks: &Marks, shared: &Shared, report: &mut Report) {
    let last = shared.published.load(Ordering::Relaxed);
    let exactly: Allowed = marks.map(|mark| BTreeSet::from([mark]));
    for server in servers {
        let oracle = Oracle::default();
        oracle.note(last, &exactly);
        let answer = server.call("sai_search_code", &ask(0));
        if let Err(error) = answer.and_then(|answer| oracle.marks(&answer)) {
            report.violation(format!("at the end: {error}"));
        }
        oracle
            .judge()
            .1
            .into_iter()
            .for_each(|wrong| report.violation(format!("at last: {wrong}")));
    }
}

/// What servers take that nobody asks.
fn idle(servers: &[u32], report: &mut Report) {
    let cpu = || servers.iter().map(|id| Usage::of(*id).cpu).sum::<Duration>();
    let before = cpu();
    thread::sleep(IDLE);
    let share = cpu().saturating_sub(before).as_secs_f64() / IDLE.as_secs_f64();
    let percent = 100.0 * share / servers.len().max(1) as f64;
    report.row("idle CPU of a server, percent", percent);
    if percent > IDLE_CPU_MAX {
        report.violation(format!("an idle server takes {percent} percent of a core"));
    }
}

fn tell(
    args: &Args,
    seen: Vec<Seen>,
    disk: &Disk,
    fresh_bytes: u64,
    shared: &Shared,
    report: &mut Report,
) {
    let (answers, wrong) = shared.oracle.judge();
    let (published, named) = shared.oracle.generations();
    wrong.into_iter().for_each(|wrong| report.violation(wrong));
    let (mut quiet, mut writing) = (Vec::new(), Vec::new());
    for seen in seen {
        quiet.extend(seen.quiet);
        writing.extend(seen.writing);
        seen.wrong.into_iter().for_each(|wrong| report.violation(wrong));
    }
    let asked = quiet.len() + writing.len();
    let seconds = args.minutes * 60.0 + QUIET.as_secs_f64();
    report.row(
        "answers",
        json!({"all": asked, "marker": answers,
            "a_second": (asked as f64 / seconds).round(), "wanted": args.servers as u32 * args.rate}),
    );
    report.row("generations", json!({"published": published, "named_by_answers": named}));
    report.row("nobody writing", times(quiet));
    report.row("while writing", times(writing));
    let bound = (fresh_bytes * DISK_TIMES_MAX).max(DISK_BYTES_MIN);
    report.row(
        "disk, MiB",
        json!({"fresh": mib(fresh_bytes), "most": mib(disk.folder), "bound": mib(bound),
            "removed_but_open_most": mib(disk.removed)}),
    );
    if disk.folder > bound {
        report.violation(format!("the index folder had {} bytes, more than {bound}", disk.folder));
    }
}

fn memory(before: &[Usage], after: &[Usage], report: &mut Report) {
    let all = |usage: &[Usage], of: fn(&Usage) -> u64| -> Vec<Value> {
        usage.iter().map(of).map(mib).collect()
    };
    report.row("memory at the start, MiB", all(before, |usage| usage.resident_bytes));
    report.row("memory at the end, MiB", all(after, |usage| usage.resident_bytes));
    report.row("of it their own at the start", all(before, |usage| usage.own_bytes));
    report.row("of it their own at the end", all(after, |usage| usage.own_bytes));
}
