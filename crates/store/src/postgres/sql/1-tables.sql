-- All tasks in every state, by their id, with their content. Claims search `assay_line` instead.
CREATE TABLE assay_tasks (
    id       text COLLATE "C" PRIMARY KEY,
    queue    text COLLATE "C" NOT NULL,
    status   text COLLATE "C" NOT NULL DEFAULT 'open',  -- or completed, failed, cancelled
    priority smallint NOT NULL,
    created  timestamptz NOT NULL,
    ended    timestamptz,
    awaited  boolean NOT NULL DEFAULT false,  -- true if a task that depends on it was pushed
    fence    bigint NOT NULL DEFAULT 0,       -- the number of the claim that ended it
    pushed   bigint NOT NULL,                 -- the call that pushed it, if that call is repeated
    settled  bigint,                          -- the call that settled it last
    body     json NOT NULL                    -- as it was before the current claim
) WITH (fillfactor = 60);

CREATE INDEX assay_tasks_over ON assay_tasks (status, queue, ended) WHERE status <> 'open';

-- A number that grows whenever a task begins to wait, for the capacity check of pushes.
CREATE SEQUENCE assay_arrivals;

-- The open tasks: those that wait and those that have a holder. Rows are small and short-lived.
-- A task can be claimed if `holder` and `rests` are null and `open` is 0.
CREATE TABLE assay_line (
    id          text COLLATE "C" PRIMARY KEY,
    queue       text COLLATE "C" NOT NULL,
    priority    smallint NOT NULL,
    created     timestamptz NOT NULL,
    open        integer NOT NULL DEFAULT 0,   -- the number of dependencies that are not completed
    rests       timestamptz,                  -- the end of its back-off, or its `run_at`
    arrival     bigint NOT NULL DEFAULT nextval('assay_arrivals'),
    fence       bigint NOT NULL DEFAULT 0,    -- grows with every claim
    for_person  boolean NOT NULL DEFAULT false,  -- true if no agent may claim it
    holder      text COLLATE "C",             -- the agent with the lease; null if there is none
    while_alive boolean NOT NULL DEFAULT false,  -- true if the lease ends with its agent
    started     timestamptz,
    until       timestamptz,                  -- the end of the lease
    ticket      bigint                        -- the call that claimed it, if that call is repeated
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

-- The dependencies of open tasks that are not completed.
CREATE TABLE assay_needs (
    task  text COLLATE "C" NOT NULL,
    needs text COLLATE "C" NOT NULL,
    PRIMARY KEY (needs, task)
);
CREATE INDEX assay_needs_task ON assay_needs (task);

-- `hungry` is true if a consumer found the queue empty since the last NOTIFY: the next new task
-- then sends one.
CREATE TABLE assay_queues (
    name   text COLLATE "C" PRIMARY KEY,
    hungry boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- The registered agents. `instance` is the process that has the name now.
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
