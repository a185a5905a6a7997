/** A trustee's page: the total is computed here, from ballots that are verified here, and one part of it decrypted. */

import { useId, useState } from "preact/hooks";
import { publish, RECORD } from "./api.ts";
import { readShareFile } from "./files.ts";
import { memory } from "./memory.ts";
import { Alert, FileInput, Progress, Title, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";

export function Trustee(_: { rest: string }) {
  const { texts, election, overview } = useShared();
  return (
    <>
      <Title>{texts.trustee.title}</Title>
      {!election && <p>{texts.noElection}</p>}
      {election && !election.trustees && <p>{texts.trustee.noTrustees}</p>}
      {election?.trustees && (
        <>
          <p>{texts.trustee.intro}</p>
          {overview?.phase === "tallied" ? <Share /> : <p>{texts.trustee.notYet}</p>}
        </>
      )}
    </>
  );
}

function Share() {
  const { texts, election, refresh } = useShared();
  const id = useId();
  const [file, setFile] = useState<string>();
  const [passphrase, setPassphrase] = useState("");
  const [done, setDone] = useState<number>();
  const { busy, error, progress, setProgress, act } = useAct();
  if (!election?.trustees) return null;
  const all = election.trustees.keys.length;
  const share = () =>
    act(async () => {
      const { trustee, secret } = await readShareFile(file ?? "", passphrase);
      const signed = await work.share([RECORD, memory(election.id), trustee, secret], setProgress);
      await publish(signed);
      setFile(undefined);
      setPassphrase("");
      setDone(trustee);
      await refresh();
    });
  if (done !== undefined) {
    return (
      <Alert kind="good">
        {texts.trustee.which(done, all)} {texts.trustee.done}
      </Alert>
    );
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        share();
      }}
    >
      <FileInput label={texts.trustee.file} help={texts.trustee.fileHelp} onText={setFile} />
      <div class="field">
        <label for={id}>{texts.trustee.passphrase}</label>
        <p class="help" id={`${id}-help`}>
          {texts.trustee.passphraseHelp}
        </p>
        <input
          id={id}
          type="password"
          autocomplete="off"
          aria-describedby={`${id}-help`}
          value={passphrase}
          onInput={(event) => setPassphrase(event.currentTarget.value)}
        />
      </div>
      <button type="submit" disabled={busy || file === undefined}>
        {texts.trustee.share}
      </button>
      {busy && <Progress label={texts.trustee.working} progress={progress} />}
      <Alert>{error}</Alert>
    </form>
  );
}
