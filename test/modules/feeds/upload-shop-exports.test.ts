import { expect, test } from '@jest/globals';
import { newNumber } from '../../support/builders/parcels.js';
import { multipart } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db } = withService();

// The columns that matter of the exports, and those that look like ours, in their order.
const SHOPIFY =
  'Name,Email,Financial Status,Currency,Total,Lineitem quantity,Lineitem name,Shipping Name,Shipping Address1,Shipping Address2,Shipping Company,Notes,Note Attributes,Id,Vendor,Phone';
const WOOCOMMERCE =
  'Order Number,Order Status,Order Date,Customer Note,First Name (Shipping),Company (Shipping),Address 2 (Shipping),Item Name,Quantity,Tracking Number';

const shopify = (code: string) =>
  `#1001,a@shop.example,paid,USD,10,1,Paperback,Marcia,1 Street,${code},,,,5,Example Books,555`;
const woocommerce = (code: string, number: string) =>
  `727,completed,2026-11-30,,Marcia,,${code},Paperback,1,${number}`;

const upload = (...lines: string[]) =>
  api.as('iex').uploadPrealerts(multipart({ file: { file: lines.join('\n') } }));
const messagesOf = (body: Record<string, unknown>) =>
  ((body['errors'] ?? []) as { message: string }[]).map(({ message }) => message);

test('an export of a shop is refused with the columns that it lacks', async () => {
  const number = newNumber();
  const refused = [
    await upload(SHOPIFY, shopify('IEX-1001')).answer(),
    await upload(WOOCOMMERCE, woocommerce('IEX-1001', number)).answer(),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400]);
  expect(refused.map(({ body }) => messagesOf(body))).toEqual([
    [expect.stringMatching(/column tracking_number\. Name it .+ The header was read as: Name \| Email/)],
    [expect.stringMatching(/column user_code\. Name it .+ The header was read as: Order Number \|/)],
  ]);
  expect(await db.count('prealerts', { tracking_number: number })).toBe(0);
});

test('an export of Shopify with a tracking number and the names of the documentation is announced', async () => {
  const number = newNumber();
  const header = SHOPIFY.replace('Shipping Address2', 'user_code')
    .replace('Name,', 'reference,')
    .replace('Lineitem name', 'description');
  await upload(`${header},tracking_number`, `${shopify('IEX-1001')},${number}`).ok();
  expect(await db.all('prealerts', { tracking_number: number })).toMatchObject([
    { user_code: 'IEX-1001', vendor: 'Example Books', description: 'Paperback', reference: '#1001' },
  ]);
});

test('an export of WooCommerce with the names of the documentation is announced', async () => {
  const number = newNumber();
  const header = WOOCOMMERCE.replace('Address 2 (Shipping)', 'user_code').replace('Item Name', 'description');
  await upload(header, woocommerce('IEX-1001', number)).ok();
  expect(await db.all('prealerts', { tracking_number: number })).toMatchObject([
    { user_code: 'IEX-1001', vendor: null, description: 'Paperback', reference: '727' },
  ]);
});
