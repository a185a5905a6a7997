/** A trustee's page: the total is computed here, from ballots that are verified here, and one part of it decrypted. */

import * as base64 from "hearith/base64.ts";
import { useId, useState } from "preact/hooks";
import { publicKey } from "../protocol/signature.ts";
import { publish, RECORD } from "./api.ts";
import { readSecret, readShareFile, save, secretText } from "./files.ts";
import { options } from "./memory.ts";
import { Alert, FileInput, Progress, Title, useAct, useShared } from "./state.tsx";
import { work } from "./tasks.ts";
import type { Verified } from "./worker.ts";

export function Trustee(_: { rest: string }) {
  const { texts, election, overview } = useShared();
  return (
    <>
      <Title>{texts.trustee.title}</Title>
      {!election && <p>{texts.noElection}</p>}
      {!election && <NewKey />}
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

/** Before there is an election: the key that this trustee signs with, whose public half the ceremony is given. */
function NewKey() {
  const { texts } = useShared();
  const [made, setMade] = useState<string>();
  const make = () => {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    save("trustee.json", secretText({ election: null, kind: "trustee", secret, voter: null }));
    setMade(base64.encode(publicKey(secret)));
    secret.fill(0);
  };
  return (
    <section class="card">
      <p>{texts.trustee.newKeyHelp}</p>
      <button type="button" class="second" onClick={make}>
        {texts.trustee.newKey}
      </button>
      {made && (
        <p>
          {texts.trustee.public}
          {texts.colon} <code class="hash">{made}</code>
        </p>
      )}
    </section>
  );
}

/** First what is to be decrypted, for the trustee to compare with others; then the trustee's part of it. */
function Share() {
  const { texts, election } = useShared();
  const [verified, setVerified] = useState<Verified>();
  const [compared, setCompared] = useState(false);
  const { busy, error, progress, setProgress, act } = useAct();
  if (!election) return null;
  const verify = () =>
    act(async () => {
      setCompared(false);
      setVerified(await work.verify([RECORD, options(election.id)], setProgress));
    });
  return (
    <>
      <section class="card">
        <button type="button" disabled={busy} onClick={verify}>
          {texts.trustee.verify}
        </button>
        {busy && <Progress label={texts.result.verifying} progress={progress} />}
        <Alert>{error}</Alert>
        <Alert>{verified && !verified.report.good && texts.result.wrong}</Alert>
        {verified?.report.good && verified.tallied && (
          <>
            <p>{texts.trustee.counted(verified.turnout.counted, verified.tallied.size)}</p>
            <p>
              {texts.result.root}
              {texts.colon} <code class="hash">{verified.tallied.root}</code>
            </p>
            <p>{texts.trustee.compare}</p>
            <label class="choice">
              <input
                type="checkbox"
                checked={compared}
                onChange={(event) => setCompared(event.currentTarget.checked)}
              />
              <span>{texts.trustee.compared}</span>
            </label>
          </>
        )}
      </section>
      {compared && verified?.tallied && <Decrypt root={verified.tallied.root} />}
    </>
  );
}

function Decrypt({ root }: { root: string }) {
  const { texts, election } = useShared();
  const id = useId();
  const [file, setFile] = useState<string>();
  const [signing, setSigning] = useState<string>();
  const [passphrase, setPassphrase] = useState("");
  const [done, setDone] = useState<number>();
  const { busy, error, act } = useAct();
  const share = () =>
    act(async () => {
      if (file === undefined || signing === undefined) throw new Error(texts.trustee.filesFirst);
      const { trustee, secret } = await readShareFile(file, passphrase);
      const own = readSecret(signing, "trustee");
      await publish(await work.share([root, trustee, secret, own.secret]));
      setFile(undefined);
      setSigning(undefined);
      setPassphrase("");
      setDone(trustee);
    });
  if (done !== undefined) {
    return (
      <Alert kind="good">
        {texts.trustee.which(done, election?.trustees?.keys.length ?? 0)} {texts.trustee.done}
      </Alert>
    );
  }
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) share();
      }}
    >
      <FileInput label={texts.trustee.file} help={texts.trustee.fileHelp} onText={setFile} />
      <FileInput label={texts.trustee.signing} help={texts.trustee.signingHelp} onText={setSigning} />
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
      <button type="submit" aria-disabled={busy}>
        {texts.trustee.share}
      </button>
      {busy && <Progress label={texts.trustee.working} progress={undefined} />}
      <Alert>{error}</Alert>
    </form>
  );
}
