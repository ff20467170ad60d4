//! Tests of ledgers in PostgreSQL alone: several connections, versions, and servers that are lost.

mod on_postgres {
    use std::thread;

    use assay_testenv::postgres::schema;
    use postgres::{Client, NoTls};

    use super::super::query::FindingFilter;
    use super::super::tests::{TODAY, add, play};
    use super::super::{Ledger, LedgerError};

    fn client(url: &str) -> Client {
        Client::connect(url, NoTls).unwrap()
    }

    #[test]
    fn a_ledger_without_tables_is_absent_for_readers_and_created_once_by_writers() {
        let url = schema();
        assert!(Ledger::open_database_to_read(&url).unwrap().is_none());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Ledger::open_database(&url).unwrap());
            }
        });
        let ledger = Ledger::open_database_to_read(&url).unwrap().unwrap();
        assert_eq!((ledger.runs().unwrap(), ledger.revision().unwrap()), (0, Some(0)));
    }

    #[test]
    fn concurrent_writers_of_several_connections_lose_no_runs() {
        let url = schema();
        thread::scope(|scope| {
            for number in 0..6 {
                let url = &url;
                scope.spawn(move || {
                    let mut ledger = Ledger::open_database(url).unwrap();
                    for round in 0..5 {
                        let looks = format!("saw a@x.rs, saw f{number}@y.rs");
                        add(&mut ledger, number * 5 + round, &looks);
                    }
                });
            }
        });
        let ledger = Ledger::open_database(&url).unwrap();
        assert_eq!((ledger.runs().unwrap(), ledger.revision().unwrap()), (30, Some(30)));
        assert_eq!(ledger.list(&FindingFilter::default(), TODAY).unwrap().len(), 7);
    }

    #[test]
    fn a_ledger_of_a_later_version_is_refused() {
        let url = schema();
        drop(Ledger::open_database(&url).unwrap());
        client(&url).batch_execute("UPDATE assay_ledger SET version = 99").unwrap();
        for error in [
            Ledger::open_database(&url).map(drop).unwrap_err(),
            Ledger::open_database_to_read(&url).map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, LedgerError::Newer { found: 99, .. }), "{error:?}");
        }
    }

    #[test]
    fn tables_of_another_program_are_neither_used_nor_changed() {
        let url = schema();
        let mut client = client(&url);
        let name = url.rsplit("%3D").next().unwrap();
        let tables = "CREATE TABLE runs (number integer); INSERT INTO runs VALUES (7)";
        client.batch_execute(&format!("CREATE SCHEMA {name}; {tables}")).unwrap();
        let error = Ledger::open_database(&url).map(drop).unwrap_err();
        assert!(matches!(error, LedgerError::ForeignTables { .. }), "{error:?}");
        assert!(Ledger::open_database_to_read(&url).unwrap().is_none());
        let row = client.query_one("SELECT number FROM runs", &[]).unwrap();
        assert_eq!(row.get::<_, i32>(0), 7);
    }

    #[test]
    fn an_operation_runs_again_after_its_connection_was_lost() {
        let url = schema();
        let name = url.rsplit("%3D").next().unwrap();
        let named = format!("{url}&application_name={name}");
        let mut ledger = Ledger::open_database(&named).unwrap();
        play(&mut ledger, "1: saw a@x.rs");
        let mut other = client(&url);
        let mut end_connections = || {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE application_name = $1";
            assert_eq!(other.execute(end, &[&name]).unwrap(), 1);
        };
        end_connections();
        play(&mut ledger, "2: saw b@x.rs");
        end_connections();
        assert_eq!(ledger.runs().unwrap(), 2);
    }

    #[test]
    fn no_error_shows_the_password() {
        let url = schema();
        let wrong = url.replace("not-a-secret", "s3cret");
        let away = "postgres://me:s3cret@127.0.0.1:1/none";
        for url in [wrong.as_str(), away, "postgres://me:s3cret@host:port/db"] {
            let error = Ledger::open_database_to_read(url).map(drop).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("s3cret"), "{error:?}");
        }
        let error = Ledger::open_database_to_read(away).map(drop).unwrap_err();
        assert!(matches!(error, LedgerError::Unreachable { .. }), "{error:?}");
    }
}
