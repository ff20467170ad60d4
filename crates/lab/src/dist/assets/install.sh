#!/bin/sh
# Installs assay @VERSION@ into ~/.local/bin, or into the folder in ASSAY_INSTALL_DIR.
# The archive is checked against the checksum in this script before anything is installed.
set -eu

version=@VERSION@
url=${ASSAY_DOWNLOAD_URL:-@URL@}
folder=${ASSAY_INSTALL_DIR:-${HOME:?set HOME or ASSAY_INSTALL_DIR}/.local/bin}

fail() {
    echo "error: $1" >&2
    exit 1
}

case $(uname -m) in
    x86_64 | amd64) arch=x86_64 ;;
    aarch64 | arm64) arch=aarch64 ;;
    *) fail "there is no package for the processor $(uname -m)" ;;
esac

case $(uname -s) in
    Darwin) targets=$arch-apple-darwin ;;
    Linux)
        # The static binary runs with each C library, the other one with glibc alone.
        targets=$arch-unknown-linux-musl
        if getconf GNU_LIBC_VERSION > /dev/null 2>&1; then
            targets="$arch-unknown-linux-gnu $targets"
        fi
        ;;
    *) fail "there is no package for the system $(uname -s)" ;;
esac

checksum_of() {
    sum=
    case $1 in
    @CHECKSUMS@
    esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Downloads a file of the release.
download() {
    if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$url/$1" ||
            fail "cannot download $url/$1"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$url/$1" || fail "cannot download $url/$1"
    else
        fail "install curl or wget"
    fi
}

# Prints the SHA-256 checksum of a file.
sha256_of() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1"
    else
        fail "install sha256sum or shasum: the download cannot be checked"
    fi
}

# A package may need a newer system than this one; the next package is tried then.
program=
found=
for target in $targets; do
    checksum_of "$target"
    [ -n "$sum" ] || continue
    found=$target
    name=assay-$version-$target
    download "$name.tar.gz" "$scratch/$name.tar.gz"
    actual=$(sha256_of "$scratch/$name.tar.gz")
    [ "${actual%% *}" = "$sum" ] ||
        fail "$name.tar.gz has the checksum ${actual%% *} instead of $sum; nothing was installed"
    tar -xzf "$scratch/$name.tar.gz" -C "$scratch"
    if "$scratch/$name/assay" --version > /dev/null 2>&1; then
        program=$scratch/$name/assay
        break
    fi
done
[ -n "$found" ] || fail "version $version has no package for $targets"
[ -n "$program" ] || fail "the package for $found does not run on this system; nothing was installed"

mkdir -p "$folder"
# A new file is renamed over the old one, so that a running program is not disturbed.
cp "$program" "$folder/.assay.new"
chmod 755 "$folder/.assay.new"
mv "$folder/.assay.new" "$folder/assay"

echo "installed $("$folder/assay" --version) as $folder/assay"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "add $folder to PATH to run assay by its name" ;;
esac
