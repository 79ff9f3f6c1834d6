import { sql, type Sql } from './statements.js';

/** Whether the tenant of the scope is a sandbox, as a condition (decision 0149). */
export const isSandbox = ({ tenantId }: { tenantId: string }): Sql =>
  sql`exists (select from tenants t where t.id = ${tenantId}::uuid and t.sandbox_of_tenant_id is not null)`;
