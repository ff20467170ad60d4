//! What is done under the guard: every change of a task, on disk and in the index.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::disk::{self, Sure};
use super::guard::{Locked, Unfinished};
use super::index::{Entry, Index, Stamp};
use super::layout::{Layout, file_name};
use super::lease::{self, Lock};
use crate::clock::{self, Uptime};
use crate::queue::{
    Addressed, Claimed, Lease, Policy, QueueError, Recovered, Settled, Settlement, Standing, Tenure,
};
use crate::steps::{self, FENCE, RESTS, Step};
use crate::task::{AgentId, QueueName, Status, Task, TaskId};

/// Nobody claims a task so often: a number beyond it was made up.
const MOST_CLAIMS: u64 = 1 << 62;

/// An agent that gave a sign of life so recently may hold what has no lock.
const FRESH: Duration = Duration::from_secs(90);

/// Everything that is needed to change tasks.
pub(super) struct Desk<'a> {
    pub(super) layout: &'a Layout,
    pub(super) policy: &'a Policy,
    pub(super) boot: &'a str,
    pub(super) index: &'a Index,
    pub(super) locked: Locked<'a>,
}

/// What a task becomes, together with all that follows from it. Once this is on the disk it is
/// done, whoever carries it out.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    /// The task that is settled, if there is one.
    settles: Option<Stored>,
    follow_ups: Vec<Stored>,
}

impl Intent {
    /// To settle a task of a queue.
    fn of(queue: &QueueName, step: Step) -> Intent {
        let settles = Some(Stored { queue: queue.clone(), task: step.task });
        Intent { settles, follow_ups: step.follow_ups.into_iter().map(Stored::from).collect() }
    }
}

/// A task and its queue, as they are written.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    queue: QueueName,
    task: Task,
}

impl From<Addressed> for Stored {
    fn from(Addressed { queue, task }: Addressed) -> Stored {
        Stored { queue, task }
    }
}

impl Desk<'_> {
    /// Finishes what somebody began and did not live to finish.
    pub(super) fn finish_others(&mut self) -> Result<(), QueueError> {
        let unfinished = self.locked.unfinished()?;
        for name in disk::names(&self.layout.intents())? {
            let path = self.layout.intents().join(&name);
            if name.starts_with('.') {
                continue;
            }
            let bytes = disk::read(&path)?.unwrap_or_default();
            match serde_json::from_slice::<Intent>(&bytes) {
                Ok(intent) => self.carry_out(&intent)?,
                // It is renamed whole into its place, so this is not of our making.
                Err(error) => self.set_aside(&path, &name, &format!("it is no intent: {error}"))?,
            }
            disk::remove_surely(&path)?;
        }
        match unfinished {
            Unfinished::Nothing => Ok(()),
            Unfinished::Tasks(tasks) => {
                tasks.iter().try_for_each(|(queue, id)| self.mend(queue, id))
            }
            Unfinished::Unknown => self.fill(),
        }
    }

    /// Looks at a task again that somebody did not finish changing.
    fn mend(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), QueueError> {
        let path = self.layout.waiting(queue, id);
        if self.layout.completed(queue, id).is_file() {
            disk::remove(&path)?;
            disk::remove(&self.layout.lock(id))?;
        }
        self.index.remove(id)?;
        if path.is_file() {
            self.take_in(queue, &file_name(id))?;
        }
        // A lock comes before the task is in progress, and goes after it is not.
        let status = self.index.get(id)?.map(|entry| entry.status);
        if status != Some(Status::InProgress) {
            disk::remove(&self.layout.lock(id))?;
        }
        self.tell_dependents(id)
    }

    /// Puts new tasks in their queues.
    pub(super) fn push(&mut self, tasks: Vec<Addressed>) -> Result<(), QueueError> {
        self.check_new(&tasks)?;
        let follow_ups =
            tasks.into_iter().map(|new| Addressed { task: steps::fresh(new.task), ..new });
        let follow_ups: Vec<Stored> = follow_ups.map(Stored::from).collect();
        self.commit(&Intent { settles: None, follow_ups })
    }

    fn check_new(&self, tasks: &[Addressed]) -> Result<(), QueueError> {
        for (number, Addressed { queue, task }) in tasks.iter().enumerate() {
            steps::admit(task)?;
            let id = task.id.clone();
            if tasks[..number].iter().any(|other| other.task.id == id) {
                let (queue, status) = (queue.clone(), Status::Pending);
                return Err(QueueError::AlreadyThere { id, queue, status });
            }
            if let Some((queue, status)) = self.find(&id)? {
                return Err(QueueError::AlreadyThere { id, queue, status });
            }
            let parent = task.parent_task_id.as_ref();
            let parent = parent.map(|parent| self.index.get(parent)).transpose()?.flatten();
            if let Some(parent) = parent
                && self.is_itself_again(&parent, queue, task)?
            {
                return Err(QueueError::OwnTask { parent: parent.id, kind: task.kind.clone() });
            }
            let new = tasks[..=number].iter().filter(|new| new.queue == *queue).count();
            let most = self.policy.max_queue_size;
            if self.index.count(queue, Status::Pending)? + new > most {
                return Err(QueueError::Full { queue: queue.clone(), most });
            }
        }
        Ok(())
    }

    /// Says whether a task would be its parent over again, which somebody works on.
    fn is_itself_again(
        &self,
        parent: &Entry,
        queue: &QueueName,
        task: &Task,
    ) -> Result<bool, QueueError> {
        if parent.status != Status::InProgress || parent.queue != *queue {
            return Ok(false);
        }
        let running = self.read(&parent.queue, &parent.file)?;
        Ok(running.is_some_and(|running| running.kind == task.kind))
    }

    /// Says where a task is, whatever became of it.
    pub(super) fn find(&self, id: &TaskId) -> Result<Option<(QueueName, Status)>, QueueError> {
        if let Some(entry) = self.index.get(id)? {
            return Ok(Some((entry.queue, entry.status)));
        }
        if let Some(queue) = self.archived(id)? {
            return Ok(Some((queue, Status::Completed)));
        }
        // A file that was dropped in and not seen yet has its name at least.
        let queues = self.queues()?.into_iter();
        let mut dropped = queues.filter(|queue| self.layout.waiting(queue, id).is_file());
        Ok(dropped.next().map(|queue| (queue, Status::Pending)))
    }

    /// The queue whose archive has a task.
    pub(super) fn archived(&self, id: &TaskId) -> Result<Option<QueueName>, QueueError> {
        let names = disk::names(&self.layout.archives())?;
        let queues = names.iter().filter_map(|name| name.parse::<QueueName>().ok());
        let mut with = queues.filter(|queue| self.layout.completed(queue, id).is_file());
        Ok(with.next())
    }

    /// The queues that have a folder.
    pub(super) fn queues(&self) -> Result<Vec<QueueName>, QueueError> {
        let names = disk::names(&self.layout.queues())?;
        let mut queues: Vec<QueueName> =
            names.iter().filter_map(|name| name.parse().ok()).collect();
        queues.sort();
        Ok(queues)
    }

    /// Claims the task whose turn it is.
    pub(super) fn claim(
        &mut self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
    ) -> Result<Option<Claimed>, QueueError> {
        while let Some(entry) = self.index.next(queue, tenure, Uptime::now())? {
            if let Some(task) = self.read_unchanged(&entry)? {
                return self.start(&entry, task, agent, tenure).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads a task as the index knows it. One that was changed by somebody else is taken in anew.
    fn read_unchanged(&mut self, entry: &Entry) -> Result<Option<Task>, QueueError> {
        let path = self.layout.queue(&entry.queue).join(&entry.file);
        let unchanged =
            fs::symlink_metadata(&path).is_ok_and(|file| Stamp::of(&file) == entry.stamp);
        let task = if unchanged { self.read(&entry.queue, &entry.file)? } else { None };
        if task.is_none() {
            self.index.remove(&entry.id)?;
            self.take_in(&entry.queue, &entry.file)?;
        }
        Ok(task)
    }

    /// Reads a task's file, if there is one that can be read.
    fn read(&self, queue: &QueueName, file: &str) -> Result<Option<Task>, QueueError> {
        let bytes = disk::read(&self.layout.queue(queue).join(file))?;
        Ok(bytes.and_then(|bytes| Task::parse(&bytes).ok()))
    }

    fn start(
        &mut self,
        entry: &Entry,
        task: Task,
        agent: &AgentId,
        tenure: Tenure,
    ) -> Result<Claimed, QueueError> {
        let Entry { id, queue, .. } = entry;
        self.locked.note(queue, id)?;
        let path = self.layout.waiting(queue, id);
        if entry.file != file_name(id) {
            disk::rename(&self.layout.queue(queue).join(&entry.file), &path)?;
        }
        let before = Lock::read(self.layout, id)?.map_or(0, |lock| lock.fence);
        let fence = before.max(fence(&task)) + 1;
        let now = clock::now();
        let lease = Lease { task: id.clone(), queue: queue.clone(), agent: agent.clone(), fence };
        Lock::new(&lease, tenure, self.boot, now).write(self.layout)?;
        let mut task = steps::start(task, agent.as_str(), now);
        task.rest.insert(FENCE.into(), json!(fence));
        task.rest.remove(RESTS);
        self.store(queue, &task)?;
        Ok(Claimed { lease, task })
    }

    /// The lock of a lease, as long as it holds.
    fn held(&self, lease: &Lease) -> Result<Lock, QueueError> {
        let lock = Lock::read(self.layout, &lease.task)?.filter(|lock| lock.is_for(lease));
        lock.ok_or_else(|| QueueError::NotHeld {
            id: lease.task.clone(),
            agent: lease.agent.clone(),
            fence: lease.fence,
        })
    }

    /// Holds a task for longer.
    pub(super) fn renew(&mut self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        self.held(lease)?.renewed(time, clock::now()).write(self.layout)
    }

    /// Carries out what becomes of a task.
    pub(super) fn settle(
        &mut self,
        lease: &Lease,
        what: Settlement,
    ) -> Result<Settled, QueueError> {
        self.held(lease)?;
        let Lease { task: id, queue, .. } = lease;
        let task = self.read(queue, &file_name(id))?;
        let task = task.ok_or_else(|| QueueError::Unknown(id.clone()))?;
        let mut step = steps::settle(task, lease, what, self.policy, clock::now());
        if !step.rests.is_zero() {
            let until = Uptime::now().after(step.rests).as_millis();
            let rests = json!({ "boot_id": self.boot, "until_uptime_ms": until });
            step.task.rest.insert(RESTS.into(), rests);
        }
        let step = self.named_apart(step, id, lease.fence)?;
        let settled = step.settled.clone();
        self.commit(&Intent::of(queue, step))?;
        Ok(settled)
    }

    /// Gives what follows from a claim of a task names of its own.
    fn named_apart(&self, mut step: Step, parent: &TaskId, fence: u64) -> Result<Step, QueueError> {
        let is_taken = |name: &TaskId| {
            let Some((queue, _)) = self.find(name)? else {
                return Ok(false);
            };
            let there = self.read(&queue, &file_name(name))?;
            Ok(there.is_none_or(|there| !steps::stands_in(&there, parent)))
        };
        let follow_ups = std::mem::take(&mut step.follow_ups);
        let named = steps::named_apart(follow_ups, parent, fence, is_taken)?;
        Ok(step.followed_by(named))
    }

    /// Does what is intended, all of it or nothing.
    fn commit(&mut self, intent: &Intent) -> Result<(), QueueError> {
        let Intent { settles, follow_ups } = intent;
        for Stored { queue, task } in settles.iter().chain(follow_ups) {
            self.locked.note(queue, &task.id)?;
        }
        // One file takes its place at once; more than one need something that does.
        let files = follow_ups.len() + usize::from(settles.is_some());
        let first = settles.iter().chain(follow_ups).next();
        let (Some(first), 2..) = (first, files) else {
            return self.carry_out(intent);
        };
        let path = self.layout.intent(&first.task.id);
        let json = serde_json::to_vec(intent).expect("an intent is JSON");
        disk::write(&path, &json, Sure::OnDisk)?;
        self.carry_out(intent)?;
        disk::remove_surely(&path)
    }

    /// Does what is intended, as far as it is not done.
    fn carry_out(&mut self, intent: &Intent) -> Result<(), QueueError> {
        for Stored { queue, task } in &intent.follow_ups {
            if self.find(&task.id)?.is_none() {
                self.store(queue, task)?;
                self.tell_dependents(&task.id)?;
            } else if self.index.get(&task.id)?.is_none() {
                // Its file was written, and whoever wrote it died before it was listed.
                self.take_in(queue, &file_name(&task.id))?;
            }
        }
        let Some(Stored { queue, task }) = &intent.settles else {
            return Ok(());
        };
        match task.status {
            Status::Completed => self.archive(queue, task)?,
            Status::Failed if task.kind.is_escalation() => {
                let json = task.to_json();
                disk::write(&self.layout.escalation(&task.id), json.as_bytes(), Sure::OnDisk)?;
                self.store(queue, task)?;
            }
            Status::Pending | Status::InProgress | Status::Failed | Status::Cancelled => {
                self.store(queue, task)?;
            }
        }
        disk::remove(&self.layout.lock(&task.id))?;
        self.tell_dependents(&task.id)
    }

    fn archive(&mut self, queue: &QueueName, task: &Task) -> Result<(), QueueError> {
        let path = self.layout.completed(queue, &task.id);
        if !path.is_file() {
            disk::make_folder(&self.layout.archive(queue))?;
            disk::write(&path, task.to_json().as_bytes(), Sure::OnDisk)?;
        }
        disk::remove(&self.layout.waiting(queue, &task.id))?;
        self.index.remove(&task.id)
    }

    /// Writes a task's file and lists it.
    fn store(&mut self, queue: &QueueName, task: &Task) -> Result<(), QueueError> {
        disk::make_folder(&self.layout.queue(queue))?;
        let path = self.layout.waiting(queue, &task.id);
        disk::write(&path, task.to_json().as_bytes(), Sure::OnDisk)?;
        let file = fs::symlink_metadata(&path).map_err(disk::at(&path))?;
        self.list(queue, &file_name(&task.id), &file, task)
    }

    /// Lists a task in the index.
    pub(super) fn list(
        &mut self,
        queue: &QueueName,
        file: &str,
        metadata: &fs::Metadata,
        task: &Task,
    ) -> Result<(), QueueError> {
        let entry = Entry {
            id: task.id.clone(),
            queue: queue.clone(),
            file: file.to_owned(),
            stamp: Stamp::of(metadata),
            status: task.status,
            priority: task.priority.get(),
            created: task.created_at.0.as_millisecond(),
            open_dependencies: self.open_dependencies(&task.depends_on)?,
            rests_until: self.rests_until(task),
            for_a_person: task.kind.is_escalation(),
        };
        self.index.put(&entry, &task.depends_on)
    }

    fn open_dependencies(&self, needs: &[TaskId]) -> Result<usize, QueueError> {
        let mut open = 0;
        for need in needs {
            let completed = self.find_status(need)? == Some(Status::Completed);
            open += usize::from(!completed);
        }
        Ok(open)
    }

    /// Where a task stands that another one needs.
    fn find_status(&self, id: &TaskId) -> Result<Option<Status>, QueueError> {
        Ok(self.find(id)?.map(|(_, status)| status))
    }

    /// Until when a task rests: by the clock that nobody moves, or else by the one on the wall.
    fn rests_until(&self, task: &Task) -> Option<Uptime> {
        let rests = task.rest.get(RESTS).filter(|rests| rests["boot_id"] == self.boot);
        let until = rests.and_then(|rests| rests["until_uptime_ms"].as_i64());
        let left = || steps::rests_by_the_wall(task, self.policy, clock::now());
        let until = until.map_or_else(|| Uptime::now().after(left()), Uptime::from_millis);
        (until > Uptime::now()).then_some(until)
    }

    /// Counts anew what the tasks wait for that wait for one, and wakes who can take them.
    pub(super) fn tell_dependents(&mut self, id: &TaskId) -> Result<(), QueueError> {
        for waiting in self.index.waiting_for(id)? {
            self.count_open(&waiting)?;
        }
        Ok(())
    }

    /// Counts anew what a task waits for.
    pub(super) fn count_open(&mut self, id: &TaskId) -> Result<(), QueueError> {
        let open = self.open_dependencies(&self.index.needs(id)?)?;
        self.index.set_open(id, open)?;
        if open == 0
            && let Some(entry) = self.index.get(id)?
        {
            // Nobody has to be waiting there.
            let _ = fs::write(self.layout.notice(&entry.queue), "");
        }
        Ok(())
    }

    /// Takes back what nobody holds any more.
    pub(super) fn recover(&mut self) -> Result<Vec<Recovered>, QueueError> {
        for name in disk::names(&self.layout.locks())? {
            let Some(id) = name.strip_suffix(".lock").filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let lock = match id.parse() {
                Ok(id) => Lock::read(self.layout, &id)?,
                Err(_) => None,
            };
            if lock.and_then(|lock| lock.left(self.layout, self.boot)).is_none() {
                disk::remove(&self.layout.locks().join(&name))?;
            }
        }
        let mut recovered = Vec::new();
        for entry in self.index.list(None, Status::InProgress)? {
            if !self.layout.lock(&entry.id).is_file() {
                recovered.extend(self.take_back(&entry)?);
            }
        }
        Ok(recovered)
    }

    /// Lets a task wait again that is in progress and has no lock.
    fn take_back(&mut self, entry: &Entry) -> Result<Option<Recovered>, QueueError> {
        let Some(task) = self.read_unchanged(entry)? else {
            return Ok(None);
        };
        let held_by = task.started_by.clone();
        if held_by.as_ref().is_some_and(|agent| self.gave_a_sign(agent)) && fence(&task) == 0 {
            return Ok(None);
        }
        self.locked.note(&entry.queue, &entry.id)?;
        if entry.file != file_name(&entry.id) {
            let from = self.layout.queue(&entry.queue).join(&entry.file);
            disk::rename(&from, &self.layout.waiting(&entry.queue, &entry.id))?;
        }
        let fence = fence(&task);
        let step = steps::recover(task, self.policy, clock::now());
        let step = self.named_apart(step, &entry.id, fence)?;
        self.commit(&Intent::of(&entry.queue, step))?;
        Ok(Some(Recovered { task: entry.id.clone(), queue: entry.queue.clone(), held_by }))
    }

    /// Says whether an agent that keeps no locks of ours lived a moment ago.
    fn gave_a_sign(&self, agent: &str) -> bool {
        let Ok(agent) = agent.parse::<AgentId>() else {
            return false;
        };
        let changed = fs::metadata(self.layout.heartbeat(&agent)).and_then(|file| file.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age < FRESH))
    }

    /// Calls a task off.
    pub(super) fn cancel(&mut self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        self.change(id, |task| steps::cancel(task, by, clock::now()))
    }

    /// Lets a task be tried again.
    pub(super) fn retry(&mut self, id: &TaskId) -> Result<(), QueueError> {
        self.change(id, |mut task| {
            task.rest.remove(RESTS);
            steps::retry(task)
        })
    }

    fn change(
        &mut self,
        id: &TaskId,
        how: impl FnOnce(Task) -> Result<Task, QueueError>,
    ) -> Result<(), QueueError> {
        let Some(entry) = self.index.get(id)? else {
            return match self.archived(id)? {
                Some(queue) => {
                    let bytes = disk::read(&self.layout.completed(&queue, id))?;
                    let task = Task::parse(&bytes.unwrap_or_default())?;
                    how(task).map(|_| ())
                }
                None => Err(QueueError::Unknown(id.clone())),
            };
        };
        let task = self.read(&entry.queue, &entry.file)?;
        let task = how(task.ok_or_else(|| QueueError::Unknown(id.clone()))?)?;
        self.locked.note(&entry.queue, id)?;
        if entry.file != file_name(id) {
            let from = self.layout.queue(&entry.queue).join(&entry.file);
            disk::rename(&from, &self.layout.waiting(&entry.queue, id))?;
        }
        self.store(&entry.queue, &task)?;
        disk::remove(&self.layout.lock(id))?;
        self.tell_dependents(id)
    }

    /// Puts tasks in as they stand, but for those that are there.
    pub(super) fn restore(&mut self, tasks: Vec<Addressed>) -> Result<usize, QueueError> {
        let mut new = 0;
        for Addressed { queue, task } in tasks {
            if self.find(&task.id)?.is_some() {
                continue;
            }
            new += 1;
            self.locked.note(&queue, &task.id)?;
            match task.status {
                Status::Completed => self.archive(&queue, &task)?,
                Status::InProgress => self.store(&queue, &steps::set_free(task.clone()))?,
                Status::Pending | Status::Failed | Status::Cancelled => {
                    self.store(&queue, &task)?
                }
            }
            self.tell_dependents(&task.id)?;
        }
        Ok(new)
    }

    /// Says where a task stands, as seen from outside.
    pub(super) fn standing(&self, entry: &Entry) -> Result<Standing, QueueError> {
        match entry.status {
            Status::Pending => {}
            Status::InProgress => return self.holding(&entry.id),
            Status::Completed | Status::Failed | Status::Cancelled => return Ok(Standing::Over),
        }
        if entry.open_dependencies > 0 {
            return self.waiting(&entry.id);
        }
        let left = entry.rests_until.map(|until| Uptime::now().until(until));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Ok(Standing::Resting { seconds: left.as_secs().max(1) }),
            None => Ok(Standing::Ready),
        }
    }

    fn holding(&self, id: &TaskId) -> Result<Standing, QueueError> {
        let lock = Lock::read(self.layout, id)?;
        let left = lock.and_then(|lock| Some((lock.left(self.layout, self.boot)?, lock.agent)));
        Ok(match left {
            Some((left, by)) => Standing::Held { by, seconds: left.as_secs() },
            // Whoever claims next takes it back first.
            None => Standing::Ready,
        })
    }

    fn waiting(&self, id: &TaskId) -> Result<Standing, QueueError> {
        let mut on = Vec::new();
        for need in self.index.needs(id)? {
            let reason = match self.find_status(&need)? {
                Some(Status::Completed) => continue,
                Some(Status::Failed) => format!("it depends on `{need}`, which failed"),
                Some(Status::Cancelled) => format!("it depends on `{need}`, which was cancelled"),
                None => format!("it depends on `{need}`, which is not known"),
                Some(Status::Pending | Status::InProgress) if self.leads_to(&need, id)? => {
                    format!("it depends on `{need}`, which depends on it")
                }
                Some(Status::Pending | Status::InProgress) => {
                    on.push(need);
                    continue;
                }
            };
            return Ok(Standing::Blocked { reason });
        }
        Ok(Standing::Waiting { on })
    }

    /// Says whether a task waits, by way of others, for another one.
    fn leads_to(&self, from: &TaskId, to: &TaskId) -> Result<bool, QueueError> {
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![from.clone()];
        while let Some(id) = open.pop() {
            if id == *to {
                return Ok(true);
            }
            if seen.insert(id.clone()) {
                open.extend(self.index.needs(&id)?);
            }
        }
        Ok(false)
    }

    /// Keeps an agent's name locked.
    pub(super) fn join(&mut self, agent: &AgentId, about: &Value) -> Result<fs::File, QueueError> {
        use std::io::{Read, Seek, SeekFrom, Write};
        let mut file = lease::agent_file(self.layout, agent)?;
        if file.try_lock().is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().to_owned();
            return Err(QueueError::AgentRuns { agent: agent.clone(), holder });
        }
        let path = self.layout.agent(agent);
        let write = |file: &mut fs::File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{about}")
        };
        write(&mut file).map_err(disk::at(&path))?;
        self.drop_leases(agent)?;
        Ok(file)
    }

    /// Ends what an earlier agent of a name held while it lived.
    fn drop_leases(&mut self, agent: &AgentId) -> Result<(), QueueError> {
        for entry in self.index.list(None, Status::InProgress)? {
            let lock = Lock::read(self.layout, &entry.id)?;
            if lock.is_some_and(|lock| lock.agent == *agent && lock.ends_with_its_agent()) {
                disk::remove(&self.layout.lock(&entry.id))?;
            }
        }
        self.recover().map(|_| ())
    }
}

/// How often a task was claimed.
fn fence(task: &Task) -> u64 {
    let number = task.rest.get(FENCE).and_then(Value::as_u64);
    number.filter(|number| *number < MOST_CLAIMS).unwrap_or(0)
}
