//! The binary: everything it does is in the library's command-line door.

fn main() -> std::process::ExitCode {
    sai::cli::main()
}
