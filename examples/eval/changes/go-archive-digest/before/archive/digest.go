package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Digest returns the hex digest over all files of the manifest.
func Digest(m Manifest) (string, error) {
	hash := sha256.New()
	for _, path := range m.Sorted() {
		content, err := os.ReadFile(filepath.Join(m.Root, path))
		if err != nil {
			return "", fmt.Errorf("digest of %s: %w", path, err)
		}
		hash.Write(content)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
