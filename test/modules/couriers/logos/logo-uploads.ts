import { expect } from '@jest/globals';
import { multipart } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';
import { type Call, type Reply } from '../../../support/service/service.js';

export const pathOfReply = ({ body }: Reply) => String(body['data'].path);

/** Uploads of logos and the responses that serve them. */
export function makeLogoUploads({ api, service }: Fixture) {
  const upload = (file: Buffer | string, name = 'logo.png', type = 'image/png', as = 'iex') =>
    api.as(as).updateCourierSettings(multipart({ logo: { file, name, type } }));

  const show = (path: string, call: Call = {}) => service().request('GET', `/${path}`, call);

  /** Uploads a logo and returns the response that serves it. */
  async function stored(file: Buffer | string, name?: string, type?: string): Promise<Reply> {
    const reply = await upload(file, name, type).answer();
    expect([reply.status, reply.message]).toEqual([200, 'Logo stored.']);
    return show(pathOfReply(reply));
  }

  return { upload, show, stored };
}
