package archive

import "sort"

// Manifest lists the files of an archive folder. The loader refuses absolute paths
// and paths with "..".
type Manifest struct {
	Root  string
	Paths []string
}

// Sorted returns the paths in ascending order; the manifest itself stays as it is.
func (m Manifest) Sorted() []string {
	paths := append([]string(nil), m.Paths...)
	sort.Strings(paths)
	return paths
}
