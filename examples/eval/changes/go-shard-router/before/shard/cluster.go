package shard

import "errors"

// Cluster is a fixed list of nodes. It has at least one node and at least one copy.
type Cluster struct {
	nodes  []string
	copies int
}

// NewCluster returns a cluster of the nodes; the slice is copied.
func NewCluster(nodes []string, copies int) (*Cluster, error) {
	if len(nodes) == 0 || copies < 1 {
		return nil, errors.New("shard: a cluster needs a node and a copy")
	}
	return &Cluster{nodes: append([]string(nil), nodes...), copies: copies}, nil
}
