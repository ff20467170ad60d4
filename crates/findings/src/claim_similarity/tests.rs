use super::*;

/// Returns the similarity of two claims and the reason that separates them.
fn compare(a: &str, b: &str) -> (f64, Option<Difference>) {
    let claims = Claims::of([(a, a), (b, b)].into_iter());
    (claims.similarity(0, 1), claims.difference(0, 1))
}

#[test]
fn claims_that_differ_in_one_point_are_apart() {
    for (reason, a, b) in [
        (Difference::Direction, "returns null", "does not return null"),
        (
            Difference::Direction,
            "Function returns null when user is missing",
            "Function does not return null when user is missing",
        ),
        (Difference::Direction, "the lock is held", "the lock isn't held"),
        (Difference::Numbers, "criterion 1 not met", "criterion 2 not met"),
        (
            Difference::Numbers,
            "timeout of 30 seconds is too long",
            "timeout of 60 seconds is too long",
        ),
        (Difference::Names, "`parse_all` ignores its error", "`parse_one` ignores its error"),
        (Difference::Names, "SQL injection in login", "XSS injection in login"),
        (
            Difference::Names,
            "Missing type annotation in cleanup.ts",
            "Missing type annotations in gap-filling.ts",
        ),
        (
            Difference::Names,
            "What `return sum(prices) / len(prices)` does with an empty list is not meant",
            "What `best = sorted(prices)[0] or None` does with an empty list is not meant",
        ),
        (
            Difference::Names,
            "What `def label(price):` does with an empty list is not meant",
            "What `def mean(prices):` does with an empty list is not meant",
        ),
        (
            Difference::Order,
            "`copy(src, dst)` arguments swapped",
            "`copy(dst, src)` arguments swapped",
        ),
        (
            Difference::Order,
            "passes `width` where `height` is expected",
            "passes `height` where `width` is expected",
        ),
        (
            Difference::Order,
            "Lock is released before write",
            "Write happens before the lock is released",
        ),
        (
            Difference::Roles,
            "`total_count` is returned instead of `page_count`",
            "`page_count` is recorded rather than `total_count`",
        ),
    ] {
        assert_eq!(compare(a, b).1, Some(reason), "{a} / {b}");
        assert_eq!(compare(b, a).1, Some(reason), "{b} / {a}");
    }
}

#[test]
fn rephrased_claims_are_alike() {
    for (least, a, b) in [
        (0.7, "TopicUser.find_by(...) returns nil", "find_by which can return nil"),
        (0.5, "Missing error handling", "No error handling for network failures"),
        (0.99, "null check missing on line 157", "Null check is missing at line 12"),
        (0.99, "inputs not validated", "input validation missing"),
        (
            0.3,
            "Order details readable by any active user",
            "Order details are not authorized per order",
        ),
        (
            0.5,
            "`topic = Topic.find(id)` is nil for a deleted topic",
            "`Topic.find(id)` gives nil for a deleted topic",
        ),
        (
            0.27,
            "timezone.now() directly as the field default, evaluated once at import",
            "timezone.now() is evaluated at class definition time for the queued field default",
        ),
    ] {
        let (likeness, apart) = compare(a, b);
        assert!(likeness >= least, "{a} / {b}: {likeness}");
        assert_eq!(apart, None, "{a} / {b}");
    }
}

#[test]
fn claims_that_recommend_the_same_name_in_other_words_agree() {
    let a = "uses `timedelta.seconds` instead of `total_seconds`";
    let b = "should use `total_seconds` rather than `timedelta.seconds`";
    assert_eq!(compare(a, b).1, None);
}

#[test]
fn claims_without_a_common_word_are_not_alike() {
    assert_eq!(compare("SQL built from input", "The query has no timeout").0, 0.0);
    assert_eq!(compare("t", "u").0, 0.0);
    assert_eq!(compare("t", "t").0, 1.0);
}

#[test]
fn claims_with_different_titles_stay_apart_even_if_their_descriptions_are_equal() {
    let rest = "The request of the client waits for the worker, so that the queue fills up.";
    let votes = [("waits 30 seconds", rest), ("waits 60 seconds", rest)];
    assert_eq!(Claims::of(votes.into_iter()).difference(0, 1), Some(Difference::Numbers));
}

#[test]
fn rare_words_count_more_than_frequent_ones() {
    let filler = |n: usize| format!("the request handler drops item{n}");
    let texts: Vec<String> = (0..20).map(filler).collect();
    let pair = ["request handler leaks the semaphore", "semaphore of the worker leaks"];
    let alone = Claims::of(pair.iter().map(|text| (*text, *text))).similarity(0, 1);
    let all = pair.into_iter().chain(texts.iter().map(String::as_str));
    let among = Claims::of(all.map(|text| (text, text))).similarity(0, 1);
    assert!(among > alone, "{among} > {alone}");
}
