import { raw, type Sql } from '../../platform/db/statements.js';

/** How long a page is shown after the parcel has arrived or was returned. */
const SHOWN_DAYS = 90;

/**
 * Whether a package is the one of a link and still has the customer for whom the link was made. A rename leaves the code of a package as it
 * is (contract: updateCustomer), so the code is compared; it must not be that of another customer meanwhile.
 *
 * @param packages the alias of `packages`
 * @param links the alias of `tracking_links`
 */
export const isOfLink = (packages: string, links: string): Sql =>
  raw(`${packages}.tenant_id = ${links}.tenant_id and ${packages}.id = ${links}.package_id and ${packages}.courier_id = ${links}.courier_id
    and ${packages}.user_code = ${links}.user_code and not exists (select from customers other where other.tenant_id = ${links}.tenant_id
      and other.courier_id = ${links}.courier_id and other.user_code = ${links}.user_code and other.id <> ${links}.customer_id)`);

/** Whether the page of a package is not too old. */
export const isShown = (packages: string): Sql =>
  raw(
    `(${packages}.status not in ('delivered', 'returned') or ${packages}.updated_at > now() - interval '${SHOWN_DAYS} days')`,
  );
