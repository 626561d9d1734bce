import { readFileSync } from 'node:fs';
import { bundledPackages, type Licensed } from './notice.ts';

/** `npm run sbom`: prints a software bill of materials in the CycloneDX format: what the package and the image contain. */
interface Manifest {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** The URL of a package: https://github.com/package-url/purl-spec. A scope is encoded. */
const packageUrl = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function component({ name, version, license }: Licensed, scope: 'required' | 'optional' = 'required') {
  const purl = packageUrl(name, version);
  // An expression such as "MIT OR Apache-2.0" is not an id.
  const licenses = / (?:OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
  return { type: 'library', 'bom-ref': purl, name, version, scope, licenses, purl };
}

export function makeSbom() {
  const { version, optionalDependencies } = JSON.parse(
    readFileSync('packages/server/package.json', 'utf8'),
  ) as Manifest;
  const optional = Object.entries(optionalDependencies).map(([name, pinned]) =>
    component({ name, version: pinned, license: 'MIT', text: '' }, 'optional'),
  );
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': `usher@${version}`, name: 'usher', version } },
    components: [...bundledPackages().map((each) => component(each)), ...optional],
  };
}

if (import.meta.main) console.log(JSON.stringify(makeSbom(), null, 2));
