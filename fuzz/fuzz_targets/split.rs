//! Any bytes, in any language, fall into proper pieces: `cargo +nightly fuzz run split`.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sai::chunk::{check, place, split};
use sai::types::{Language, RelPath};

fuzz_target!(|data: (u8, bool, &[u8])| {
    let (language, header, bytes) = data;
    let language = Language::ALL[usize::from(language) % Language::ALL.len()];
    let name = if header { "src/a.h" } else { "src/a" };
    let path = RelPath::new(Path::new(name)).expect("a relative path");
    let text = String::from_utf8_lossy(bytes);
    let pieces = split(&path, language, &text);
    if let Err(broken) = check(&text, &pieces) {
        panic!("{language}: {broken}");
    }
    assert_eq!(split(&path, language, &text), pieces, "{language}: split twice, not alike");
    place(&path, language, &text);
});
