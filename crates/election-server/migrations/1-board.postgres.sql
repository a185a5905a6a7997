-- The board: its entries as the lines of the record, which everything else here can be made from again.
CREATE TABLE entries (
    position BIGINT PRIMARY KEY CHECK (position >= 0),
    kind TEXT NOT NULL,
    -- Ballots and challenged ballots alone have one.
    tracker TEXT UNIQUE,
    line TEXT NOT NULL
);
-- Ciphertexts do not compress: nobody needs to try.
ALTER TABLE entries ALTER COLUMN line SET STORAGE EXTERNAL;

-- Who may vote, in the order of the board.
CREATE TABLE voters (
    number BIGINT PRIMARY KEY CHECK (number >= 0),
    id TEXT NOT NULL UNIQUE
);

-- A voter's ballot that counts.
CREATE TABLE votes (
    voter TEXT PRIMARY KEY REFERENCES voters (id),
    position BIGINT NOT NULL UNIQUE REFERENCES entries (position)
);

-- Signed heads of the board's tree.
CREATE TABLE heads (
    size BIGINT PRIMARY KEY CHECK (size > 0),
    line TEXT NOT NULL
);

-- Its one row is locked by whoever appends, so that one server appends at a time.
CREATE TABLE writer (
    one BIGINT PRIMARY KEY CHECK (one = 1)
);
INSERT INTO writer VALUES (1);
