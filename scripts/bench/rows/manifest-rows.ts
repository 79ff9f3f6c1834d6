import { selectFigures, selectInfo, selectPackages } from '../../../src/modules/manifests/detail/queries.js';
import type { BenchTenant } from '../database.js';
import { contextOf, readRow, type Bench, type Row } from '../measure.js';
import { digits } from '../scale.js';

export const getManifestRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `GetManifest, ${digits(bench.scale.manifestPackages)} packages`,
    times: 100,
    call: { method: 'GET', path: `/api/GetManifest.php?id=${tenant.manifestId}` },
    statements: (caller) =>
      [selectInfo, selectPackages, selectFigures].map((select) =>
        select(contextOf(caller), tenant.manifestId),
      ),
  });
