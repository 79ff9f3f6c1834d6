import type { Mutant } from '../mutant.js';

const FENCE = 'test/database/cells/fence.test.ts';
const MOVE = 'test/database/cells/tenant-move.test.ts';

/** The guards of tenant cells (decision 0060). */
export const CELLS: readonly Mutant[] = [
  {
    name: 'cells: a user of a tenant that another cell serves is refused',
    function: 'enter_as_user',
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
    find: "if (exact.length === 0 && answers.some(({ status }) => status === 'rejected')) throw unavailable();",
    replace: '',
    tests: [{ file: FENCE, titles: ['does not give the host of an unavailable cell'] }],
  },
  {
    name: 'cells: a tenant whose copy differs stays where it was',
    file: 'src/platform/db/tenant-move/switch-over.ts',
    find: 'if (early) assertEqual(early);',
    replace: "if (early) log('Compared.');",
    tests: [{ file: MOVE, titles: ['cells that differ are not switched'] }],
  },
  {
    name: 'cells: an error in the pause opens the tenant again',
    file: 'src/platform/db/tenant-move/switch-over.ts',
    find: '    await reopen(link);\n',
    replace: '',
    tests: [{ file: MOVE, titles: ['cells that differ are not switched'] }],
  },
  {
    name: 'cells: the source is recorded as moved before the target is active',
    file: 'src/platform/db/tenant-move/switch-over.ts',
    find: "await changeState(from, tenant.id, ['moving', 'moved'], 'moved');",
    replace: '',
    tests: [{ file: MOVE, titles: ['a tenant moves and comes back'] }],
  },
  {
    name: 'cells: jobs move with their tenant',
    file: 'src/platform/db/tenant-move/switch-over.ts',
    find: 'await addJobs(to.client, jobs);',
    replace: '',
    tests: [{ file: MOVE, titles: ['a tenant moves and comes back'] }],
  },
];
