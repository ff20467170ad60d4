-- A function of SQLite that the statements of the ledger use: the text at a path such as `$.template.title`. A document
-- may have the character 0 in any text, which PostgreSQL refuses.
CREATE FUNCTION json_extract(document TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE
    AS $$ SELECT replace(document, '\u0000', '\ufffd')::json #>> string_to_array(substr(path, 3), '.') $$;
