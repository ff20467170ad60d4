//! Guarantees about agents: joining, waiting, pausing, leaving.

use assay_base::clock::Clock;
use assay_store::queue::{AgentState, Heartbeat, LeaseKind, PauseTarget, QueueError};
use assay_store::task::{AgentId, Moment};

use super::{LONG, claim, qa};
use crate::script::{done, policy, task};
use crate::stores::Store;

promises!(
    a_push_wakes_who_waits,
    a_completed_dependency_wakes_who_waits,
    a_name_is_one_agents,
    what_a_dead_agent_held_is_free_at_once,
    a_pause_is_for_one_or_for_all,
    signs_of_life_are_seen,
);

fn a_push_wakes_who_waits(store: &dyn Store) {
    let queue = store.open(policy());
    let watch = queue.watch(&qa()).unwrap();
    store.open(policy()).push(vec![task("a")]).unwrap();
    assert!(watch.wait(LONG));
    assert!(claim(&*queue, "qa-1").is_some());
}

fn a_completed_dependency_wakes_who_waits(store: &dyn Store) {
    let queue = store.open(policy());
    queue.push(vec![task("first queue=engineer"), task("second after=first")]).unwrap();
    let (engineer, agent) = ("engineer".parse().unwrap(), "engineer-1".parse().unwrap());
    let lease_kind = LeaseKind::ByTime(LONG);
    let first = queue.claim(&engineer, &agent, lease_kind, 1).unwrap().remove(0);
    let watch = queue.watch(&qa()).unwrap();
    store.open(policy()).settle(&first.lease, done(vec![])).unwrap();
    while claim(&*queue, "qa-1").is_none() {
        assert!(watch.wait(LONG));
    }
}

fn a_name_is_one_agents(store: &dyn Store) {
    let (one, other) = (store.open(policy()), store.open(policy()));
    let agent: AgentId = "qa-1".parse().unwrap();
    let registration = one.join(&agent).unwrap();
    one.record_heartbeat(&heartbeat("qa-1")).unwrap();
    let refused = other.join(&agent).err().expect("the name is taken");
    assert!(matches!(refused, QueueError::AgentRunning { .. }), "{refused}");
    other.join(&"qa-2".parse().unwrap()).unwrap();
    drop(registration);
    other.join(&agent).unwrap();
}

fn what_a_dead_agent_held_is_free_at_once(store: &dyn Store) {
    let queue = store.open(policy());
    queue.push(vec![task("a")]).unwrap();
    let agent: AgentId = "qa-1".parse().unwrap();
    let registration = queue.join(&agent).unwrap();
    let lease_kind = LeaseKind::WhileAlive(LONG);
    let claimed = queue.claim(&qa(), &agent, lease_kind, 1).unwrap().remove(0);
    assert_eq!(queue.recover().unwrap(), vec![]);
    drop(registration);
    let registration = store.open(policy()).join(&agent).unwrap();
    let again = claim(&*queue, "qa-2").expect("it is free");
    assert_eq!(again.lease.task, claimed.lease.task);
    let refused = queue.settle(&claimed.lease, done(vec![])).unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    drop(registration);
}

fn a_pause_is_for_one_or_for_all(store: &dyn Store) {
    let (queue, other) = (store.open(policy()), store.open(policy()));
    let paused = |agent: &str| queue.is_paused(&agent.parse().unwrap()).unwrap();
    let one = PauseTarget::Agent("qa-1".parse().unwrap());
    let watch = queue.watch(&qa()).unwrap();
    other.pause(&one).unwrap();
    assert!(watch.wait(LONG), "a pause is told");
    assert!(paused("qa-1") && !paused("qa-2"));
    other.pause(&PauseTarget::All).unwrap();
    assert!(paused("qa-2"));
    other.resume(&PauseTarget::All).unwrap();
    assert!(!paused("qa-1") && !paused("qa-2"));
}

fn signs_of_life_are_seen(store: &dyn Store) {
    let queue = store.open(policy());
    let agent: AgentId = "qa-1".parse().unwrap();
    let registration = queue.join(&agent).unwrap();
    queue.record_heartbeat(&heartbeat("qa-1")).unwrap();
    queue.pause(&PauseTarget::Agent(agent)).unwrap();
    let seen = store.open(policy()).agents().unwrap();
    let told: Vec<_> =
        seen.iter().map(|seen| (seen.heartbeat.agent.as_str(), seen.alive, seen.paused)).collect();
    assert_eq!(told, [("qa-1", true, true)]);
    drop(registration);
    assert!(!queue.agents().unwrap()[0].alive);
}

fn heartbeat(agent: &str) -> Heartbeat {
    let now = Moment::now(&Clock::system());
    Heartbeat {
        agent: agent.parse().unwrap(),
        queue: qa(),
        state: AgentState::Idle,
        task: None,
        since: now,
        at: now,
        every_seconds: 30,
        host: "here".into(),
        pid: std::process::id(),
        version: "0".into(),
    }
}
