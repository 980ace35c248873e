//! `sai completions`: prints a shell's completion script.

use clap::Args;
use clap_complete::Shell;

use super::{DONE, Ended, command, print};

/// Print the completion script of a shell
///
/// For example: `sai completions bash > ~/.local/share/bash-completion/completions/sai`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<u8, Ended> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "sai", &mut script);
    print::out(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}
