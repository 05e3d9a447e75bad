// Bundles the dashboard into the folder given: assets with hashed names, and the page that names them.
import { build } from 'esbuild'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const target = process.argv[2]
rmSync(target, { recursive: true, force: true })
mkdirSync(join(target, 'assets'), { recursive: true })

const { metafile } = await build({
  entryPoints: { main: 'src/main.tsx', theme: 'src/theme/early.ts', style: 'src/styles/index.css', icon: 'src/icon.svg' },
  outdir: join(target, 'assets'),
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})

const named = Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output.bytes])
const find = (name, ending) => named.find(([each]) => each.startsWith(`${name}-`) && each.endsWith(ending))?.[0]
const page = readFileSync('src/index.html', 'utf8')
  .replace('{style}', find('style', '.css'))
  .replace('{theme}', find('theme', '.js'))
  .replace('{main}', find('main', '.js'))
  .replace('{icon}', find('icon', '.svg'))
writeFileSync(join(target, 'index.html'), page)
for (const [name, bytes] of named) console.log(`${String(Math.round(bytes / 1024)).padStart(5)} kB  ${name}`)
