-- A survey in PostgreSQL: answers come in encrypted, totals of five answers or more go out.
CREATE EXTENSION hearith;

-- Who was invited: the SHA-256 of a code that each person got. It keeps answers to one a person.
CREATE TABLE invitations (code bytea PRIMARY KEY, answered boolean NOT NULL DEFAULT false);

CREATE TABLE answers (
    dept text NOT NULL CHECK (dept IN ('lab', 'office', 'sales', 'workshop')),
    salary ciphertext NOT NULL,
    -- What the form writes. What is within the ciphertext nobody sees: see the tutorial.
    CHECK (he_scale(salary) = 2 AND he_additions(salary) = 1 AND he_headroom(salary) = 1000000)
);

-- Takes an answer once for each invitation. The collector has no other right on the tables.
CREATE FUNCTION answer(code bytea, dept text, salary ciphertext) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    AS $$
BEGIN
    UPDATE invitations i SET answered = true WHERE i.code = sha256(answer.code) AND NOT i.answered;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO answers VALUES (answer.dept, answer.salary);
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION answer FROM PUBLIC;

-- The only query that the analyst may run. Totals are re-randomised, so that nobody can tell from one
-- which answers are in it.
CREATE VIEW totals AS
    SELECT dept, count(*) AS answers, he_rerandomise(he_sum(salary, 5)) AS salary
    FROM answers GROUP BY dept ORDER BY dept;

CREATE ROLE collector LOGIN;
GRANT EXECUTE ON FUNCTION answer TO collector;
CREATE ROLE analyst LOGIN;
GRANT SELECT ON totals TO analyst;
