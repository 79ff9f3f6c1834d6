export type PostmanDescription = { content: string; type: string };

export type PostmanItem = {
  name: string;
  description?: PostmanDescription;
  item?: PostmanItem[];
  request?: {
    method: string;
    description: PostmanDescription;
    url: { raw: string; variable: { key: string; value: string }[] };
  };
};

export type PostmanCollection = {
  info: { name: string; description: PostmanDescription; schema: string };
  variable: { key: string; value: string }[];
  item: PostmanItem[];
};

export function buildPostmanCollection(bundle: object): PostmanCollection;
