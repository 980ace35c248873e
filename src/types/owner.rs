//! Here is a file in a folder that others may write to: does it belong to whoever may be believed?

use std::path::Path;

/// Whether `path` belongs to the owner of `believed`, or to root. Always so where files have no owner's
/// number; never when one of the two cannot be looked at.
#[cfg(unix)]
pub fn is_same_owner(path: &Path, believed: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.uid()).ok();
    owner(path).is_some_and(|owns| owns == 0 || Some(owns) == owner(believed))
}

/// Whether `path` belongs to the owner of `believed`: files have no owner's number here.
#[cfg(not(unix))]
pub fn is_same_owner(_path: &Path, _believed: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_belongs_to_nobody() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_same_owner(&here.join("Cargo.toml"), here));
        assert!(!is_same_owner(&here.join("no such file"), here));
    }
}
