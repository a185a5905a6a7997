-- Entries that change the list of voters, which pages ask for while voting goes on: a few among many ballots.
CREATE INDEX lists ON entries (position) WHERE kind IN ('voters', 'replace');
