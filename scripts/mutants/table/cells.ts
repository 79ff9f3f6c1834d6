import type { Mutant } from '../mutant.js';

const FENCE = 'test/database/cells/fence.test.ts';

/**
 * The guards of tenant cells (decision 0060). Those of the move itself are not here: its test has a server of its own, which would
 * stay behind when the test is ended at its first failure.
 */
export const CELLS: readonly Mutant[] = [
  {
    name: 'cells: a user of a tenant that another cell serves is refused',
    function: 'enter_with_token',
    find: "when is_elsewhere then 'unavailable'",
    replace: "when false then 'unavailable'",
    tests: [{ file: FENCE, titles: ['is refused with 503 for tokens, API keys and logins'] }],
  },
  {
    name: 'cells: an API key of a tenant that another cell serves is refused',
    function: 'enter_with_key',
    find: "outcome := case when is_elsewhere then 'unavailable' else 'ok' end",
    replace: "outcome := 'ok'",
    tests: [{ file: FENCE, titles: ['cannot be read'] }],
  },
  {
    name: 'cells: a job or login of a tenant that another cell serves is refused',
    function: 'enter_as_system',
    find: "c.state not in ('active', 'moving')",
    replace: 'false',
    tests: [{ file: FENCE, titles: ['cannot be read'] }],
  },
  {
    name: 'cells: jobs run only where their tenant is active',
    function: 'all_tenants',
    find: "c.state <> 'active'",
    replace: 'false',
    tests: [{ file: FENCE, titles: ['has no jobs'] }],
  },
  {
    name: 'cells: the triggers refuse writes of a closed tenant',
    statement: `create or replace function installation.refuse_unless_active() returns trigger
      language plpgsql as $$ begin if tg_op = 'DELETE' then return old; end if; return new; end $$`,
    tests: [{ file: FENCE, titles: ['serves reads and refuses writes'] }],
  },
  {
    name: 'cells: closing waits for the transactions of the tenant',
    file: 'src/platform/db/tenant-move/fence.ts',
    find: `await client.query("select pg_advisory_xact_lock(x'63656c6c'::int, hashtext($1))", [tenantId]);`,
    replace: '',
    tests: [{ file: FENCE, titles: ['closing waits for the writing transactions of the tenant'] }],
  },
  {
    name: 'cells: a host that two cells serve is served by none',
    file: 'src/platform/db/cells.ts',
    find: '!serving || others.length > 0',
    replace: '!serving',
    tests: [{ file: FENCE, titles: ['serves nobody at a host that two cells serve'] }],
  },
  {
    name: 'cells: the host of an unavailable cell is not given to another tenant',
    file: 'src/platform/db/cells.ts',
    find: 'if (!isExact && !isComplete) return { isExact, error };',
    replace: '',
    tests: [{ file: FENCE, titles: ['does not give the host of an unavailable cell'] }],
  },
];
