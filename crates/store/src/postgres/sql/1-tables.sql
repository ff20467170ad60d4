-- Every task there is or was, by its name. Whatever is looked up, and not searched for, is here.
CREATE TABLE assay_tasks (
    id       text COLLATE "C" PRIMARY KEY,
    queue    text COLLATE "C" NOT NULL,
    status   text COLLATE "C" NOT NULL DEFAULT 'open',  -- or completed, failed, cancelled
    priority smallint NOT NULL,
    created  timestamptz NOT NULL,
    ended    timestamptz,
    awaited  boolean NOT NULL DEFAULT false,  -- whether a task was pushed that depends on it
    fence    bigint NOT NULL DEFAULT 0,       -- the number of the claim that ended it
    pushed   bigint NOT NULL,                 -- which call pushed it, for one that is repeated
    settled  bigint,                          -- which call settled it last
    body     json NOT NULL                    -- as it was before somebody began to work on it
) WITH (fillfactor = 60);

CREATE INDEX assay_tasks_over ON assay_tasks (status, queue, ended) WHERE status <> 'open';

-- A number that grows with every task that comes to wait.
CREATE SEQUENCE assay_arrivals;

-- The open tasks: those that wait and those that are held. Rows are small and short-lived.
CREATE TABLE assay_line (
    id          text COLLATE "C" PRIMARY KEY,
    queue       text COLLATE "C" NOT NULL,
    priority    smallint NOT NULL,
    created     timestamptz NOT NULL,
    open        integer NOT NULL DEFAULT 0,   -- how many dependencies are not completed
    rests       timestamptz,                  -- until when it rests
    arrival     bigint NOT NULL DEFAULT nextval('assay_arrivals'),
    fence       bigint NOT NULL DEFAULT 0,    -- grows with every claim
    for_person  boolean NOT NULL DEFAULT false,  -- whether no agent takes it
    holder      text COLLATE "C",
    while_alive boolean NOT NULL DEFAULT false,
    started     timestamptz,
    until       timestamptz,
    ticket      bigint                        -- which call claimed it, for one that is repeated
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX assay_line_ready ON assay_line (queue, priority, created, id)
    WHERE holder IS NULL AND open = 0 AND rests IS NULL;
CREATE INDEX assay_line_for_agents ON assay_line (queue, priority, created, id)
    WHERE holder IS NULL AND open = 0 AND rests IS NULL AND NOT for_person;
CREATE INDEX assay_line_resting ON assay_line (queue, rests)
    WHERE holder IS NULL AND open = 0 AND rests IS NOT NULL;
CREATE INDEX assay_line_waiting ON assay_line (queue, id) WHERE open > 0;
CREATE INDEX assay_line_held ON assay_line (until) WHERE holder IS NOT NULL;

-- What open tasks depend on, as far as it is not completed.
CREATE TABLE assay_needs (
    task  text COLLATE "C" NOT NULL,
    needs text COLLATE "C" NOT NULL,
    PRIMARY KEY (needs, task)
);
CREATE INDEX assay_needs_task ON assay_needs (task);

-- A queue is hungry when somebody found nothing in it since it was last told of a task.
CREATE TABLE assay_queues (
    name   text COLLATE "C" PRIMARY KEY,
    hungry boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Who has joined. An instance is the one that has the name now.
CREATE TABLE assay_agents (
    name        text COLLATE "C" PRIMARY KEY,
    instance    bigint NOT NULL,
    alive_until timestamptz NOT NULL,
    host        text NOT NULL,
    place       text NOT NULL,
    pid         bigint NOT NULL,
    born        text NOT NULL,
    joined      timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE assay_heartbeats (
    agent text COLLATE "C" PRIMARY KEY,
    body  json NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE assay_pauses (
    who text COLLATE "C" PRIMARY KEY
);
