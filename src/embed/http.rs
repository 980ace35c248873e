//! Which vectors does an embedding endpoint give? It speaks as Ollama does, or `/v1/embeddings`.
//!
//! In: texts with their prefixes. Out: unit vectors in the same order, all of one dimension, or an
//! error that names the endpoint and the way out. The bearer token goes to the configured host
//! only: redirects are not followed, and no message shows it. Tests are in `tests/it/embed.rs`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::{Response, Uri, header};
use ureq::{Agent, Body, Timeout};

use super::{digest, normalise};
use crate::config::{HttpConfig, HttpStyle};
use crate::error::{Error, Result};

/// Texts a call at most, whatever is configured.
const BATCH_MAX: usize = 2_048;
/// Bytes that an answer may have: some for the frame, and so many a text (8,192 dimensions).
const FRAME_BYTES_MAX: u64 = 1 << 20;
const VECTOR_BYTES_MAX: u64 = 1 << 18;
/// Bytes of an error answer that are read.
const REFUSAL_BYTES_MAX: u64 = 16 << 10;
/// Characters of an error answer that are shown.
const REFUSAL_CHARS_MAX: usize = 300;
/// The first wait before a further try; it doubles up to the longest.
const WAIT_FIRST: Duration = Duration::from_millis(200);
const WAIT_MAX: Duration = Duration::from_secs(20);

/// An endpoint that has answered once.
pub(super) struct Endpoint {
    agent: Agent,
    style: HttpStyle,
    /// Where to post to.
    url: String,
    model: String,
    token: Option<String>,
    retries: u32,
    timeout: Duration,
    batch: usize,
    /// 0 until the first answer.
    dim: usize,
}

#[derive(Serialize)]
struct Ask<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct OpenaiAnswer {
    data: Vec<OpenaiVector>,
}

#[derive(Deserialize)]
struct OpenaiVector {
    /// Which text this is; some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why a call failed, and whether another may succeed.
struct Failure {
    error: Error,
    again: Again,
}

enum Again {
    No,
    Soon,
    /// The endpoint said when.
    After(Duration),
}

impl Endpoint {
    /// Asks the endpoint for one vector, to learn its dimension.
    ///
    /// # Errors
    /// Usage for a bad URL, environment for an endpoint that does not answer as it should.
    pub(super) fn open(config: &HttpConfig) -> Result<Self> {
        let base = base_url(config)?;
        let path = match config.style {
            HttpStyle::Ollama => "api/embed",
            HttpStyle::Openai => "v1/embeddings",
        };
        let timeout = Duration::from_secs(config.timeout_s.max(1));
        let mut endpoint = Self {
            agent: agent(&base, timeout),
            style: config.style,
            url: format!("{base}/{path}"),
            model: config.model.clone(),
            token: token(config)?,
            retries: config.retries,
            timeout,
            batch: config.batch.clamp(1, BATCH_MAX),
            dim: 0,
        };
        endpoint.call(&["dimension"])?;
        Ok(endpoint)
    }

    /// The model's identity. The host is part of it: many servers answer to any model name.
    pub(super) fn name(&self, config: &HttpConfig) -> String {
        let style = match self.style {
            HttpStyle::Ollama => "ollama",
            HttpStyle::Openai => "openai",
        };
        let dim = self.dim.to_string();
        let settings = digest(&[&self.url, &config.passage_prefix, &dim]);
        format!("{style}:{}+{settings}", self.model)
    }

    /// Dimensions of a vector.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// One vector a text, in order. A blank text has the zero vector, and the endpoint is not asked.
    pub(super) fn embed(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = vec![Vec::new(); texts.len()];
        let asked: Vec<usize> =
            (0..texts.len()).filter(|&at| !texts[at].trim().is_empty()).collect();
        for batch in asked.chunks(self.batch) {
            let input: Vec<&str> = batch.iter().map(|&at| texts[at].as_str()).collect();
            for (&at, vector) in batch.iter().zip(self.call(&input)?) {
                vectors[at] = vector;
            }
        }
        for vector in vectors.iter_mut().filter(|vector| vector.is_empty()) {
            vector.resize(self.dim, 0.0);
        }
        Ok(vectors)
    }

    /// Asks until there is an answer, a lasting refusal, or no try left.
    fn call(&mut self, input: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut wait = WAIT_FIRST;
        let mut left = self.retries;
        loop {
            let failure = match self.post(input) {
                Ok(answer) => return self.check(answer, input.len()),
                Err(failure) => failure,
            };
            let pause = match failure.again {
                Again::Soon if left > 0 => wait,
                Again::After(pause) if left > 0 => pause.min(WAIT_MAX),
                _ => return Err(failure.error),
            };
            tracing::debug!(url = %self.url, error = %failure.error, ?pause, "trying again");
            std::thread::sleep(pause);
            wait = (wait * 2).min(WAIT_MAX);
            left -= 1;
        }
    }

    /// One call: the vectors as the endpoint gave them.
    fn post(&self, input: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let mut request = self.agent.post(&self.url);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let ask = Ask { model: &self.model, input };
        let mut response = request.send_json(ask).map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(&mut response));
        }
        let limit = FRAME_BYTES_MAX + VECTOR_BYTES_MAX * input.len() as u64;
        let bytes = response
            .body_mut()
            .with_config()
            .limit(limit)
            .read_to_vec()
            .map_err(|error| self.unreachable(&error))?;
        self.read(&bytes, input.len()).map_err(|error| Failure { error, again: Again::No })
    }

    fn read(&self, bytes: &[u8], asked: usize) -> Result<Vec<Vec<f32>>> {
        let unreadable = |error: serde_json::Error| {
            self.error("gave an answer of another form")
                .because(error)
                .hint("check `embedder.http.style` and `embedder.http.url`")
        };
        match self.style {
            HttpStyle::Ollama => {
                let answer: OllamaAnswer = serde_json::from_slice(bytes).map_err(unreadable)?;
                Ok(answer.embeddings)
            }
            HttpStyle::Openai => {
                let answer: OpenaiAnswer = serde_json::from_slice(bytes).map_err(unreadable)?;
                self.in_order(answer.data, asked)
            }
        }
    }

    /// Puts the vectors in the order of the texts.
    fn in_order(&self, data: Vec<OpenaiVector>, asked: usize) -> Result<Vec<Vec<f32>>> {
        let given = data.len();
        let mut vectors = vec![Vec::new(); asked];
        for (at, item) in data.into_iter().enumerate() {
            let at = item.index.unwrap_or(at);
            match vectors.get_mut(at) {
                Some(vector) if vector.is_empty() => *vector = item.embedding,
                Some(_) => return Err(self.fault(&format!("gave two vectors for text {at}"))),
                None => return Err(self.wrong_count(given, asked)),
            }
        }
        if given == asked { Ok(vectors) } else { Err(self.wrong_count(given, asked)) }
    }

    /// Checks number, dimension and values, and makes unit vectors.
    fn check(&mut self, mut vectors: Vec<Vec<f32>>, asked: usize) -> Result<Vec<Vec<f32>>> {
        if vectors.len() != asked {
            return Err(self.wrong_count(vectors.len(), asked));
        }
        for vector in &mut vectors {
            if self.dim == 0 {
                self.dim = vector.len();
            }
            if vector.is_empty() || vector.len() != self.dim {
                let what = format!(
                    "gave a vector of {} dimensions where {} were expected",
                    vector.len(),
                    self.dim
                );
                return Err(self.error(&what).hint("check `embedder.http.model`"));
            }
            normalise(vector);
            if !vector.iter().all(|value| value.is_finite()) {
                return Err(self.fault("gave a vector with values that are not finite numbers"));
            }
        }
        Ok(vectors)
    }

    /// An answer that no setting explains.
    fn fault(&self, what: &str) -> Error {
        self.error(what).hint("look into the endpoint's log, or set `embedder.kind: static`")
    }

    fn wrong_count(&self, given: usize, asked: usize) -> Error {
        self.error(&format!("gave {given} vectors for {asked} texts"))
            .hint("set `embedder.http.batch: 1` if the endpoint takes one text at a time")
    }

    /// No answer at all, or one that broke off.
    fn unreachable(&self, error: &ureq::Error) -> Failure {
        use ureq::Error as E;
        let again = match error {
            E::Io(_)
            | E::ConnectionFailed
            | E::HostNotFound
            | E::Timeout(Timeout::Connect | Timeout::Resolve) => Again::Soon,
            _ => Again::No,
        };
        let error = match error {
            E::Timeout(_) => self
                .error(&format!("gave no answer within {} s", self.timeout.as_secs()))
                .hint("raise `embedder.http.timeout_s` or lower `embedder.http.batch`"),
            E::BodyExceedsLimit(_) => self
                .error("gave a longer answer than vectors need")
                .hint("check `embedder.http.style` and `embedder.http.url`"),
            _ => self
                .error("could not be asked")
                .because(self.without_token(&error.to_string()))
                .hint(format!("{}, or set `embedder.kind: static`", self.way_to_start())),
        };
        Failure { error, again }
    }

    fn way_to_start(&self) -> &'static str {
        match self.style {
            HttpStyle::Ollama => "start it with `ollama serve` or correct `embedder.http.url`",
            HttpStyle::Openai => "start the server or correct `embedder.http.url`",
        }
    }

    /// An answer that is not a success.
    fn refused(&self, response: &mut Response<Body>) -> Failure {
        let status = response.status();
        let said = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let wait = said(header::RETRY_AFTER).and_then(|text| text.trim().parse().ok());
        let target = said(header::LOCATION).unwrap_or("another place").to_owned();
        let again = match (status.as_u16(), wait) {
            (429 | 500..=599, Some(seconds)) => Again::After(Duration::from_secs(seconds)),
            (429 | 500..=599, None) => Again::Soon,
            _ => Again::No,
        };
        if status.is_redirection() {
            let what = format!("redirects to {}, which is not followed", self.shown(&target));
            let error = self.error(&what).hint("set `embedder.http.url` to the final address");
            return Failure { error, again };
        }
        let body = response.body_mut().with_config().limit(REFUSAL_BYTES_MAX).lossy_utf8(true);
        let reason = body.read_to_string().unwrap_or_default();
        let mut error = self.error(&format!("answered {status}: {}", self.shown(&reason)));
        error = error.hint(match (status.as_u16(), self.style) {
            (401 | 403, _) => {
                "set `embedder.http.token_env` to a variable that holds a valid token"
            }
            (404, HttpStyle::Ollama) => "fetch the model with `ollama pull`, or correct its name",
            (404, HttpStyle::Openai) => "check `embedder.http.url` and `embedder.http.model`",
            (429, _) => "wait, or lower `embedder.http.batch`",
            (400 | 413 | 422, _) => "check `embedder.http.model`, or lower `embedder.http.batch`",
            _ => "look into the endpoint's log",
        });
        Failure { error, again }
    }

    fn error(&self, what: &str) -> Error {
        Error::environment(format!("the embedding endpoint `{}` {what}", self.url))
    }

    /// A stranger's text on one short line, without the token.
    fn shown(&self, text: &str) -> String {
        let line: String = text
            .chars()
            .map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c })
            .collect();
        let line = self.without_token(&line);
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        words.join(" ").chars().take(REFUSAL_CHARS_MAX).collect()
    }

    fn without_token(&self, text: &str) -> String {
        match &self.token {
            Some(token) => text.replace(token.as_str(), "***"),
            None => text.to_owned(),
        }
    }
}

/// The address without a path. What the style adds by itself may be given and is taken off.
fn base_url(config: &HttpConfig) -> Result<String> {
    let hint = "give scheme and host, for example `http://127.0.0.1:11434`";
    let url = config.url.trim().trim_end_matches('/');
    let uri: Uri = url.parse().map_err(|error: ureq::http::uri::InvalidUri| {
        Error::usage("`embedder.http.url` is not a URL").because(error).hint(hint)
    })?;
    // The value is shown only once it is known to hold no user name and password.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(Error::usage("`embedder.http.url` holds a user name or password")
            .hint("put a token into a variable and name it in `embedder.http.token_env`"));
    }
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    if !web || uri.host().is_none_or(str::is_empty) || uri.query().is_some() || url.contains('#') {
        return Err(Error::usage(format!("`embedder.http.url` is `{url}`")).hint(hint));
    }
    let own = match config.style {
        HttpStyle::Ollama => "/api",
        HttpStyle::Openai => "/v1",
    };
    Ok(url.strip_suffix(own).unwrap_or(url).to_owned())
}

/// The token, if the configuration names a variable.
fn token(config: &HttpConfig) -> Result<Option<String>> {
    let Some(name) = config.token_env.as_deref().filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let hint = format!("set `{name}`, or take `embedder.http.token_env` out");
    let token = std::env::var(name).unwrap_or_default().trim().to_owned();
    if token.is_empty() {
        let what = format!("the variable `{name}` of `embedder.http.token_env` holds no token");
        return Err(Error::environment(what).hint(hint));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let what = format!("the variable `{name}` holds characters that no token has");
        return Err(Error::environment(what).hint(hint));
    }
    Ok(Some(token))
}

fn agent(base: &str, timeout: Duration) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("sai/", env!("CARGO_PKG_VERSION")));
    if is_local(base) {
        // A proxy cannot reach this machine's own services.
        config = config.proxy(None);
    }
    config.build().new_agent()
}

fn is_local(base: &str) -> bool {
    let uri: Option<Uri> = base.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    host == "localhost" || address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
