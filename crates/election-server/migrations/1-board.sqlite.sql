-- The board: its entries as the lines of the record, which everything else here can be made from again.
CREATE TABLE entries (
    position INTEGER PRIMARY KEY CHECK (position >= 0),
    kind TEXT NOT NULL,
    -- Ballots and challenged ballots alone have one.
    tracker TEXT UNIQUE,
    line TEXT NOT NULL
) STRICT;

-- Who may vote, in the order of the board.
CREATE TABLE voters (
    number INTEGER PRIMARY KEY CHECK (number >= 0),
    id TEXT NOT NULL UNIQUE
) STRICT;

-- A voter's ballot that counts.
CREATE TABLE votes (
    voter TEXT PRIMARY KEY REFERENCES voters (id),
    position INTEGER NOT NULL UNIQUE REFERENCES entries (position)
) STRICT;

-- Signed heads of the board's tree.
CREATE TABLE heads (
    size INTEGER PRIMARY KEY CHECK (size > 0),
    line TEXT NOT NULL
) STRICT;
