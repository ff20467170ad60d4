package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Digest returns the hex digest over all files of the manifest.
func Digest(m Manifest) (string, error) {
	hash := sha256.New()
	for _, path := range m.Sorted() {
		file, err := os.Open(filepath.Join(m.Root, path))
		if err != nil {
			return "", fmt.Errorf("digest of %s: %w", path, err)
		}
		defer file.Close()
		if err := addFile(hash, path, file); err != nil {
			return "", fmt.Errorf("digest of %s: %w", path, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// addFile writes path, length and content of one file to the hash.
func addFile(hash io.Writer, path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(info.Size()))
	for _, part := range [][]byte{[]byte(path), {0}, length[:]} {
		if _, err := hash.Write(part); err != nil {
			return err
		}
	}
	_, err = io.Copy(hash, file)
	return err
}
