export const timeOf = (text) => new Date(`${text.replace(' ', 'T')}Z`);
