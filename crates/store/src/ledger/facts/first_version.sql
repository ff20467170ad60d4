-- A ledger as the first version of the schema wrote it: two runs, a finding that is gone, and a dismissed one.
INSERT INTO runs VALUES
    ('run-001', 1780000000000, 'staged changes', 'topic', NULL, 'not ready', 1, 4, 0, 900, 0.5, 0),
    ('run-002', 1780000060000, 'staged changes', 'topic', NULL, 'ready', 1, 0, 0, 0, NULL, 0);
INSERT INTO findings VALUES
    (1, 'aaaaaaaaaaaa', 'f1', 'x.rs', 7, 'first', 'HIGH', 1, 'style', 'rust/x', '{}',
     1780000000000, 1780000000000, 'run-001', 1780000060000, 'run-002', 'absent'),
    (2, 'bbbbbbbbbbbb', 'f2', 'y.rs', 8, 'second', 'LOW', 4, 'style', NULL, '{}',
     1780000000000, 1780000000000, 'run-001', 1780000000000, 'run-001', 'raised');
INSERT INTO looks VALUES
    ('run-001', 1, 'raised', 'aaaaaaaaaaaa', 'x.rs', 7, NULL, NULL),
    ('run-002', 1, 'absent', NULL, NULL, NULL, NULL, NULL),
    ('run-001', 2, 'raised', 'bbbbbbbbbbbb', 'y.rs', 8, NULL, NULL);
INSERT INTO votes VALUES
    ('run-001', 1, 'rules', 0, 'HIGH', NULL, '{}'),
    ('run-001', 2, 'rules', 1, 'LOW', NULL, '{}');
INSERT INTO dismissals VALUES (1, 2, 'ada', 'fixture', 1780000030000, NULL, NULL, NULL);
