/** The JavaScript package's sources: what the pages and the package share is there alone. tsconfig.json says the same. */

import { fileURLToPath } from "node:url";

export const hearith = {
  find: /^hearith\/(.*\.ts)$/,
  replacement: fileURLToPath(new URL("../packages/js/src/$1", import.meta.url)),
};
