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
        # musl's loader has this name; a static binary runs with each C library.
        if ls /lib/ld-musl-* > /dev/null 2>&1; then
            targets=$arch-unknown-linux-musl
        else
            targets="$arch-unknown-linux-gnu $arch-unknown-linux-musl"
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

target=
for candidate in $targets; do
    checksum_of "$candidate"
    if [ -n "$sum" ]; then
        target=$candidate
        break
    fi
done
[ -n "$target" ] || fail "version $version has no package for $targets"

name=assay-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
archive=$scratch/$name.tar.gz

if command -v curl > /dev/null; then
    curl --fail --silent --show-error --location --output "$archive" "$url/$name.tar.gz" ||
        fail "cannot download $url/$name.tar.gz"
elif command -v wget > /dev/null; then
    wget -q -O "$archive" "$url/$name.tar.gz" || fail "cannot download $url/$name.tar.gz"
else
    fail "install curl or wget"
fi

if command -v sha256sum > /dev/null; then
    actual=$(sha256sum "$archive")
elif command -v shasum > /dev/null; then
    actual=$(shasum -a 256 "$archive")
else
    fail "install sha256sum or shasum: the download cannot be checked"
fi
[ "${actual%% *}" = "$sum" ] ||
    fail "$name.tar.gz has the checksum ${actual%% *} instead of $sum; nothing was installed"

tar -xzf "$archive" -C "$scratch"
mkdir -p "$folder"
# A new file is renamed over the old one, so that a running program is not disturbed.
cp "$scratch/$name/assay" "$folder/.assay.new"
chmod 755 "$folder/.assay.new"
mv "$folder/.assay.new" "$folder/assay"

echo "installed $("$folder/assay" --version) as $folder/assay"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "add $folder to PATH to run assay by its name" ;;
esac
