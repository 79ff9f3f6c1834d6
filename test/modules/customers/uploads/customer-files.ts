import { expect } from '@jest/globals';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import type { FormFile } from '../../../support/service/forms.js';
import { type Call, type Reply } from '../../../support/service/service.js';
import { multipart } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

export const HEADER = 'user_code,first_name,last_name,branch';

type Options = Call & { courier?: string; dryRun?: string; type?: string; name?: string };

export const lines = (...rows: string[]) => [HEADER, ...rows, ''].join('\n');

type Customer = {
  id: string;
  courier_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  email: string | null;
  is_active: boolean;
  created_at: Date;
  updated_at: Date;
};

/** Returns the expected response. Counts that are not given are zero. */
export const counts = (data: Record<string, number | boolean>) => ({
  status: 200,
  body: {
    status: 'success',
    data: {
      processed: 0,
      created: 0,
      updated: 0,
      unchanged: 0,
      repeated: 0,
      skipped: 0,
      dry_run: false,
      ...data,
    },
  },
});

type RowError = { field: string; row?: number; code: string };

export const errorsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as RowError[]).map(({ field, row, code }) =>
    `${row ?? ''} ${field} ${code}`.trim(),
  );

/** Uploads and stored rows for tests of customer files. */
export function makeUploads({ api, service }: Fixture) {
  function upload(file: string | Buffer, { courier, dryRun, type, name, ...call }: Options = {}) {
    const field: FormFile = { file, ...(type ? { type } : {}), ...(name ? { name } : {}) };
    const form = {
      file: field,
      ...(courier === undefined ? {} : { target_courier_id: courier }),
      ...(dryRun === undefined ? {} : { dry_run: dryRun }),
    };
    return api.with({ as: 'iex', ...call }).uploadCustomers(multipart(form));
  }

  async function customersOf(...codes: string[]): Promise<Customer[]> {
    const { rows } = await service().owner.query<Customer>(
      'select * from customers where user_code = any($1) order by user_code, courier_id',
      [codes],
    );
    return rows;
  }

  async function expectRefused(
    file: string | Buffer,
    errors: string[],
    options: Options = {},
  ): Promise<Reply> {
    const before = await fingerprint(service().owner);
    const reply = await upload(file, options).answer();
    expect([reply.status, reply.body['status'], errorsOf(reply)]).toEqual([400, 'fail', errors]);
    expect(await fingerprint(service().owner)).toEqual(before);
    return reply;
  }

  return { upload, customersOf, expectRefused };
}
