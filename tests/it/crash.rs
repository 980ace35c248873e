//! Death at any moment, two writers, and readers beside a writer: the index is the old one or the new
//! one, never a part.

use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sai::error::ErrorKind;
use sai::request::{IndexQuery, SearchQuery, SearchReply};
use sai::store::IndexDir;
use sai::sync::{Phase, Progress};
use sai::types::Mode;

use crate::support::{self, Repo, command, leftovers, repo};

/// Where the moments of death come from; `SAI_CRASH_SEED` takes another one.
const SEED: u64 = 0x5A1;

/// Deaths in each of the two phases.
const DEATHS: usize = 10;

const FILES: usize = 300;

/// Pseudo-random numbers that a seed fixes.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = std::env::var("SAI_CRASH_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or(SEED);
        println!("SAI_CRASH_SEED={seed}");
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A share of `whole`, up to a little more than all of it.
    fn moment(&mut self, whole: Duration) -> Duration {
        whole.mul_f64(self.below(1100) as f64 / 1000.0)
    }
}

/// File `n` as it is written in round `round`.
fn text(n: usize, round: usize) -> String {
    let function = |at: usize| {
        format!(
            "/// Counts the things of kind {at}.\npub fn count_{n}_{at}(things: &[u32]) -> usize {{\n    \
             let wanted = {round};\n    things.iter().filter(|thing| **thing == wanted).count()\n}}\n\n"
        )
    };
    format!("// round {round}\n") + &(0..12).map(function).collect::<String>()
}

fn name(n: usize) -> String {
    format!("src/part_{}/file_{n}.rs", n % 17)
}

fn generated() -> Repo {
    let repo = repo("//- /README.md\n# Things\n");
    for n in 0..FILES {
        repo.write(&name(n), text(n, 0));
    }
    repo
}

fn start(root: &Path, args: &[&str]) -> Child {
    let mut command = command(root, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

/// Starts `sai index` and kills it at a random moment of the time that a whole run takes.
fn die(repo: &Repo, random: &mut Random, whole: Duration) {
    let moment = random.moment(whole);
    let mut child = start(repo.path(), &["index"]);
    thread::sleep(moment);
    child.kill().expect("it is ours");
    let status = child.wait().expect("it ends");
    println!("killed after {moment:?}: {status}");
}

/// The files that the index holds, as `sai status` says; `None` without an index.
fn files_indexed(repo: &Repo) -> Option<u64> {
    let status = repo.sai(&["status", "--json"]).exits(0).json();
    assert_eq!(status["writer"], serde_json::Value::Null, "the dead write no more");
    match status["state"].as_str() {
        Some("missing") => None,
        Some("ready") => status["files"].as_u64(),
        state => panic!("{state:?}"),
    }
}

/// Holds that the index is what an index from nothing would be.
fn equals_scratch(repo: &Repo) {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let folder = scratch.path().join("index");
    let set = format!("index_dir={}", folder.display());
    repo.sai(&["--set", &set, "index"]).exits(0);
    assert!(support::content(&repo.path().join(".index")) == support::content(&folder));
}

fn timed(repo: &Repo) -> Duration {
    let started = Instant::now();
    repo.sai(&["index"]).exits(0);
    started.elapsed()
}

#[test]
fn a_first_run_that_dies_leaves_no_index_or_a_whole_one() {
    let repo = generated();
    let mut random = Random::new();
    let whole = timed(&repo);
    let fresh = || std::fs::remove_dir_all(repo.path().join(".index")).expect("ours");
    fresh();
    for _ in 0..DEATHS {
        die(&repo, &mut random, whole);
        let question = ["search", "--no-index", "-m", "exact", "count_7_3("];
        match files_indexed(&repo) {
            None => {
                let said = repo.sai(&question).exits(3).stderr;
                assert!(said.contains("no index of") && said.contains("sai index"), "{said}");
            }
            Some(files) => {
                assert_eq!(files, FILES as u64 + 1, "it died after it had published");
                assert!(repo.sai(&question).exits(0).stdout.contains("count_7_3"));
                fresh();
            }
        }
    }
    die(&repo, &mut random, whole);
    repo.sai(&["index"]).exits(0);
    assert_eq!(leftovers(repo.path()), Vec::<String>::new());
    assert_eq!(files_indexed(&repo), Some(FILES as u64 + 1));
    equals_scratch(&repo);
}

#[test]
fn a_later_run_that_dies_leaves_the_old_index_or_the_new_one() {
    let repo = generated();
    let mut random = Random::new();
    let whole = timed(&repo);
    let mut before = files_indexed(&repo).expect("indexed");
    for round in 1..=DEATHS {
        for _ in 0..20 {
            let n = random.below(FILES + 20);
            match random.below(5) {
                0 => drop(std::fs::remove_file(repo.path().join(name(n)))),
                _ => repo.write(&name(n), text(n, round)),
            }
        }
        die(&repo, &mut random, whole);
        let files = files_indexed(&repo).expect("there was an index");
        let found = repo.sai(&["search", "--no-index", "counts the things of kind 3"]).exits(0);
        assert!(found.stdout.contains("count_"), "{}", found.stdout);

        let after = repo.sai(&["index", "--json"]).exits(0).json()["files"].as_u64();
        assert_eq!(leftovers(repo.path()), Vec::<String>::new());
        assert!(
            files == before || Some(files) == after,
            "{files} is neither {before} nor {after:?}"
        );
        before = after.expect("a number");
    }
    equals_scratch(&repo);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_the_index_as_it_was() {
    let repo = generated();
    let mut random = Random::new();
    let whole = timed(&repo);
    let before = support::content(&repo.path().join(".index"));
    for round in 1..=DEATHS / 2 {
        (0..FILES).for_each(|n| repo.write(&name(n), text(n, round)));
        let moment = random.moment(whole);
        let child = start(repo.path(), &["index"]);
        thread::sleep(moment);
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "it is ours");
        let done = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&done.stderr);
        match done.status.code() {
            Some(130) => {
                assert!(said.contains("interrupted; the index is as it was"), "{said}");
                assert_eq!(leftovers(repo.path()), Vec::<String>::new());
                assert!(before == support::content(&repo.path().join(".index")));
            }
            // It had published already.
            Some(0) => return,
            // It had not begun to listen.
            None => {}
            code => panic!("{code:?}: {said}"),
        }
    }
}

#[test]
fn a_process_that_ends_takes_its_index_runs_with_it() {
    let repo = generated();
    repo.sai(&["index"]).exits(0);
    let before = support::content(&repo.path().join(".index"));
    (0..FILES).for_each(|n| repo.write(&name(n), text(n, 1)));
    let handle = support::handle(repo.path());
    let (begun, begins) = std::sync::mpsc::channel();
    let progress = move |progress: Progress| {
        if progress.phase == Phase::Indexing {
            let _ = begun.send(());
        }
    };
    let query = IndexQuery { force: false, progress: Some(Arc::new(progress)) };
    let run = handle.index(query);
    begins.recv().expect("it begins to index");
    handle.end_jobs(Duration::from_mins(2));
    assert_eq!(leftovers(repo.path()), Vec::<String>::new());
    assert_eq!(IndexDir::new(repo.path().join(".index")).writer(), None);
    // It may have been quicker.
    if let Err(error) = run.wait() {
        assert_eq!(error.kind(), ErrorKind::Stopped, "{error}");
        assert!(before == support::content(&repo.path().join(".index")));
    }
}

#[test]
fn a_second_writer_says_who_holds_the_lock_or_waits_for_it() {
    let repo = repo("//- /a.rs\nfn alpha() {}\n");
    let lock = IndexDir::new(repo.path().join(".index")).lock(Duration::ZERO).expect("free");
    let holder = format!("process {}", std::process::id());
    for args in [&["index"][..], &["index", "--force"], &["flush", "--yes"], &["search", "alpha"]] {
        let args = [&["--set", "limits.lock_wait_s=0"], args].concat();
        let output = repo.sai(&args).exits(3);
        assert_eq!(output.stdout, "");
        assert!(
            output.stderr.contains(&format!("is being written by {holder}")),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("\nhint: try again when"), "{}", output.stderr);
    }
    let status = repo.sai(&["status"]).exits(0).stdout;
    assert!(status.contains(&format!("{holder} is writing")), "{status}");

    let waiting = start(repo.path(), &["--set", "limits.lock_wait_s=600", "index"]);
    drop(lock);
    let done = waiting.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(repo.sai(&["search", "--no-index", "alpha"]).exits(0).stdout.contains("fn alpha()"));
}

#[test]
fn writers_at_once_come_one_after_the_other() {
    let repo = generated();
    let writers: Vec<Child> =
        (0..3).map(|_| start(repo.path(), &["--set", "limits.lock_wait_s=600", "index"])).collect();
    let mut said: Vec<String> = writers
        .into_iter()
        .map(|writer| {
            let done = writer.wait_with_output().expect("it ends");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let text = String::from_utf8(done.stdout).expect("UTF-8");
            text.split(':').next().unwrap_or_default().to_owned()
        })
        .collect();
    said.sort();
    assert_eq!(said, ["indexed", "up to date", "up to date"], "the later ones find it done");
    assert_eq!(leftovers(repo.path()), Vec::<String>::new());
    equals_scratch(&repo);
}

/// Files whose every generation holds one round only.
const MARKED: usize = 12;

fn mark(repo: &Repo, round: usize) {
    for n in 0..MARKED {
        repo.write(&format!("file_{n}.rs"), format!("fn marked_{n}() {{ round({round}); }}\n"));
    }
}

/// The round that all hits of an answer show.
fn round_of(snippets: &[String]) -> String {
    let rounds: std::collections::BTreeSet<&str> = snippets
        .iter()
        .map(|snippet| {
            snippet.split("round(").nth(1).and_then(|s| s.split(')').next()).unwrap_or("")
        })
        .collect();
    assert_eq!(rounds.len(), 1, "one answer, one generation: {rounds:?}");
    rounds.into_iter().next().unwrap_or_default().to_owned()
}

#[test]
fn readers_see_whole_generations_while_a_writer_publishes() {
    const ROUNDS: usize = 8;
    let repo = repo("//- /README.md\n# Things\n");
    mark(&repo, 0);
    repo.sai(&["index"]).exits(0);
    let done = AtomicBool::new(false);
    let going_on = || !done.load(Ordering::Relaxed);
    thread::scope(|threads| {
        let server = threads.spawn(|| {
            let handle = support::handle(repo.path());
            let (mut last, mut answers) = (0, 0);
            while going_on() || answers == 0 {
                let query = SearchQuery {
                    text: "marked round".into(),
                    mode: Some(Mode::Lexical),
                    limit: Some(50),
                    include_text: true,
                    ..SearchQuery::default()
                };
                let reply: SearchReply = handle.search(query).wait().expect("it answers");
                assert!(reply.generation >= last, "{} after {last}", reply.generation);
                last = reply.generation;
                let texts: Vec<String> = reply.hits.iter().map(|hit| hit.snippet.clone()).collect();
                let marked: Vec<String> =
                    texts.into_iter().filter(|text| text.contains("round(")).collect();
                assert_eq!(marked.len(), MARKED);
                round_of(&marked);
                answers += 1;
            }
            println!("{answers} answers, up to generation {last}");
        });
        let processes = threads.spawn(|| {
            let mut answers = 0;
            while going_on() || answers == 0 {
                let args =
                    ["search", "--no-index", "--json", "-m", "lexical", "-n", "50", "--full"];
                let reply = repo.sai(&[&args[..], &["marked"]].concat()).exits(0).json();
                let hits = reply["hits"].as_array().expect("a list").clone();
                let texts: Vec<String> = hits
                    .iter()
                    .map(|hit| hit["snippet"].as_str().unwrap_or("").to_owned())
                    .collect();
                assert_eq!(texts.len(), MARKED, "{reply}");
                round_of(&texts);
                answers += 1;
            }
        });
        let written = std::panic::catch_unwind(|| {
            for round in 1..=ROUNDS {
                mark(&repo, round);
                let reply = repo.sai(&["index", "--json"]).exits(0).json();
                assert_eq!(reply["generation"].as_u64(), Some(round as u64 + 1));
            }
        });
        done.store(true, Ordering::Relaxed);
        written.expect("the writer never waits for readers");
        server.join().expect("the server answers");
        processes.join().expect("processes answer");
    });
    let last = repo.sai(&["search", "--no-index", "-m", "lexical", "marked"]).exits(0).stdout;
    assert!(last.contains(&format!("round({ROUNDS})")), "{last}");
}
