//! Here is a path: where does it lie when all links are followed, and how does a text take its place in
//! one step?

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The folder that a file lies in; `.` for a name alone.
pub fn folder(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The path with every link followed, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|folder| {
        let rest = path.strip_prefix(folder).ok()?;
        Some(fs::canonicalize(folder).ok()?.join(rest))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Puts `text` in the place of `file` in one step, with the permissions that it had. A link is replaced,
/// not followed.
///
/// # Errors
/// It cannot be written; the file is then as it was.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sai-").suffix(".tmp");
    // A new file gets the permissions that any new file gets, not those of a private one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut made = builder.tempfile_in(folder(file))?;
    made.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(file) {
        made.as_file().set_permissions(metadata.permissions())?;
    }
    made.as_file().sync_all()?;
    made.persist(file).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.txt");
        for text in ["first, and long", "second"] {
            replace(&file, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("no/a.txt"), "").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_a_link_becomes_a_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (link, file) = (dir.path().join("link"), dir.path().join("file"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&file, "new").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        replace(&link, "newer").unwrap();
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_far_as_there_is_something() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("b")).unwrap();
        assert_eq!(real(&root.join("b/c/d")), root.join("a/c/d"));
        assert_eq!(folder(Path::new("name")), Path::new("."));
    }
}
