/** The forms of a text by plural category, as in ICU messages. `#` stands for the number. */
type PluralForms = { readonly other: string } & { readonly [category in Intl.LDMLPluralRule]?: string };

/** Chooses the form of a text for a number, by the plural rules of a language. */
export function pluralFor(locale: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(locale);
  const numbers = new Intl.NumberFormat(locale);
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count));
}
