/** A worker of the browser's pool. */

import { type Request, Tasks } from "./tasks.ts";

const tasks = new Tasks();
self.onmessage = ({ data }: MessageEvent<Request>) => self.postMessage(tasks.answer(data));
