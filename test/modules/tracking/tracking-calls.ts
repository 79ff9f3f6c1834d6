import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import type { Api, Options } from '../../support/fixture/api.js';
import { unchecked, urlencoded, type Sent } from '../../support/fixture/sent.js';

/** What browsers send. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

type Shown = { status: number; html: string; headers: Headers };

/** A courier's pages, as its customers see them, and what couriers do to them. */
export function makeTracking(api: Api) {
  const { IEX } = DEMO.couriers;
  const asBrowser = ({ headers, ...options }: Options): Options => ({
    ...options,
    headers: { ...BROWSER, ...headers },
  });
  const shown = ({ status, bytes, headers }: { status: number; bytes: Buffer; headers: Headers }): Shown => ({
    status,
    html: bytes.toString(),
    headers,
  });
  /** Sends a body to the address of the form. */
  const send = async (body: Sent, { query, ...options }: Options = {}): Promise<Shown> =>
    shown(
      await api.anonymous
        .submitTrackingSearch(body, { ...asBrowser(options), query: { courier: 'IEX', ...query } })
        .answer(),
    );
  return {
    /** Switches the pages of a courier on. */
    enable: (fields: object = {}, courierId: string = IEX) =>
      api
        .as('admin')
        .updateTrackingSettings(unchecked({ courier_id: courierId, is_enabled: true, ...fields }))
        .ok(),
    /** Receives a parcel of a customer. */
    async receive(userCode = 'IEX-1001'): Promise<{ id: string; number: string }> {
      const number = newNumber();
      const parcel = { tracking_number: number, weight: 2, user_code: userCode };
      const { data } = await api.as('warehouse').receivePackage(unchecked(parcel)).created();
      return { id: data.package_id, number };
    },
    /** Returns the key of the link of a package. */
    async keyOf(packageId: string, as = 'iex'): Promise<string> {
      const { data } = await api.as(as).manageTrackingLinks({ action: 'create', package_id: packageId }).ok();
      return (data.link?.path ?? '').replace('/track/', '');
    },
    page: async (key: string, options: Options = {}) =>
      shown(
        await api.anonymous.getTrackingPage(undefined, { path: { key }, ...asBrowser(options) }).answer(),
      ),
    form: async (courier: string, { query, ...options }: Options = {}) =>
      shown(
        await api.anonymous
          .getTrackingSearch(undefined, { query: { courier, ...query }, ...asBrowser(options) })
          .answer(),
      ),
    /** Sends the form, or another body. */
    /** Sends the form. */
    search: (number: string, lastName: string, options: Options = {}) =>
      send(urlencoded({ tracking_number: number, last_name: lastName }), options),
    send,
  };
}
