// Makes calls to JavaScript code: started by javascript_cases.py, inside the sandbox.
"use strict";

const fs = require("fs");
const vm = require("vm");
const { types } = require("util");

const [asked, told, valueBytes, depthLimit] = process.argv.slice(2).map(Number);
const MAX_MESSAGE = 2000;

// What is used to read values is kept from before the code has run.
const { isMap, isSet, isProxy, isPromise, isUint8Array } = types;
const { getPrototypeOf, keys, is } = Object;
const { isArray } = Array;
const { isInteger } = Number;
const { isSafeInteger } = Number;
const { apply } = Reflect;
const mapEntries = Map.prototype.entries;
const setValues = Set.prototype.values;
const mapNext = getPrototypeOf(new Map().entries()).next;
const setNext = getPrototypeOf(new Set().values()).next;
const toBuffer = Buffer.from;
const joined = Buffer.concat;

const ERRORS = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
const NODES_OWN = ERRORS.map((name) => globalThis[name].prototype);

class Unreadable extends Error {}

function head(tag, size) {
  const made = Buffer.alloc(5);
  made.write(tag, 0, "latin1");
  made.writeUInt32BE(size, 1);
  return made;
}

function scalar(tag, text, encoding) {
  const content = toBuffer(text, encoding);
  return joined([head(tag, content.length), content]);
}

function encoded(value, plain) {
  const parts = [];
  let size = 0;
  const add = (part) => {
    size += part.length;
    if (size > valueBytes) throw new Unreadable(`It is longer than ${valueBytes} bytes.`);
    parts.push(part);
  };
  const walk = (value, depth) => {
    if (depth > depthLimit) throw new Unreadable(`It is nested more than ${depthLimit} deep.`);
    if (value === null) add(head("n", 0));
    else if (value === undefined) add(head("u", 0));
    else if (typeof value === "boolean") add(scalar("b", value ? "1" : "0", "latin1"));
    else if (typeof value === "string") add(scalar("s", value, "utf8"));
    else if (typeof value === "bigint") add(scalar("i", value.toString(16), "latin1"));
    else if (typeof value === "number") {
      if (isSafeInteger(value) && !is(value, -0)) add(scalar("i", value.toString(16), "latin1"));
      else add(scalar("f", is(value, -0) ? "-0.0" : String(value), "latin1"));
    } else if (typeof value !== "object" || isProxy(value)) throw new Unreadable(foreign(typeof value));
    else if (isArray(value)) {
      const count = value.length;
      for (let index = 0; index < count; index++) walk(value[index], depth + 1);
      add(head("l", count));
    } else if (isMap(value)) {
      const entries = apply(mapEntries, value, []);
      let count = 0;
      for (let next = apply(mapNext, entries, []); !next.done; next = apply(mapNext, entries, [])) {
        walk(next.value[0], depth + 1);
        walk(next.value[1], depth + 1);
        count++;
      }
      add(head("d", count));
    } else if (isSet(value)) {
      const values = apply(setValues, value, []);
      let count = 0;
      for (let next = apply(setNext, values, []); !next.done; next = apply(setNext, values, [])) {
        walk(next.value, depth + 1);
        count++;
      }
      add(head("S", count));
    } else if (isUint8Array(value)) add(scalar("y", toBuffer(value).toString("hex"), "latin1"));
    else {
      const prototype = getPrototypeOf(value);
      if (prototype !== null && prototype !== plain) throw new Unreadable(foreign(nameOf(value)));
      const names = keys(value);
      for (const name of names) {
        walk(name, depth + 1);
        walk(value[name], depth + 1);
      }
      add(head("d", names.length));
    }
  };
  walk(value, 0);
  return joined(parts);
}

function foreign(name) {
  return `It holds a ${name}, which is no built-in value.`;
}

function nameOf(value) {
  try {
    return String((value && value.constructor && value.constructor.name) || typeof value);
  } catch {
    return typeof value;
  }
}

function fields(...texts) {
  return joined(
    texts.flatMap((text) => {
      const content = toBuffer(String(text), "utf8").subarray(0, MAX_MESSAGE);
      const size = Buffer.alloc(4);
      size.writeUInt32BE(content.length);
      return [size, content];
    }),
  );
}

// An error that has the name of a built-in one, and is none, is named as the code's own: `solution.TypeError`.
function raised(error, builtIn) {
  let name = "Error";
  let message = "";
  try {
    const object = typeof error === "object" && error !== null;
    name = object ? String(error.name || "Error") : typeof error;
    message = String(object ? error.message : error);
    const at = ERRORS.indexOf(name);
    if (at >= 0 && !descends(error, builtIn[at]) && !descends(error, NODES_OWN[at])) name = `solution.${name}`;
  } catch {}
  return joined([toBuffer("E"), fields(name, message)]);
}

function descends(value, prototype) {
  for (let each = getPrototypeOf(value); each !== null; each = getPrototypeOf(each)) if (each === prototype) return true;
  return false;
}

async function perform(code, steps) {
  const module = { exports: {} };
  const space = { module, exports: module.exports, require, console, Buffer, setTimeout, clearTimeout, setInterval };
  Object.assign(space, { clearInterval, setImmediate, queueMicrotask, structuredClone, TextEncoder, TextDecoder, URL });
  const context = vm.createContext(space);
  const plain = vm.runInContext("Object.prototype", context);
  const builtIn = vm.runInContext(`[${ERRORS}].map((kind) => kind.prototype)`, context);
  let scripts;
  try {
    scripts = steps.map((step) => script(step));
  } catch (error) {
    return joined([toBuffer("I"), fields(error.name, error.message)]);
  }
  let value;
  try {
    new vm.Script(code.replace(/^\s*export\s+(default\s+)?(?=(async|function|class|const|let|var)\b)/gm, ""), {
      filename: "solution.js",
    }).runInContext(context);
    for (const each of scripts) {
      value = each.runInContext(context);
      if (isPromise(value)) value = await value;
    }
  } catch (error) {
    return raised(error, builtIn);
  }
  try {
    return joined([toBuffer("R"), encoded(value, plain)]);
  } catch (error) {
    return joined([toBuffer("U"), fields(nameOf(value), error instanceof Unreadable ? error.message : "")]);
  }
}

// An expression that begins with a brace would be read as a block.
function script(step) {
  try {
    return new vm.Script(`(${step}\n)`, { filename: "call" });
  } catch {
    return new vm.Script(step, { filename: "call" });
  }
}

function readExactly(size) {
  const made = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const count = fs.readSync(asked, made, at, size - at, null);
    if (count === 0) return null;
    at += count;
  }
  return made;
}

function frame() {
  const size = readExactly(4);
  return size && readExactly(size.readUInt32BE());
}

function write(content) {
  let at = 0;
  while (at < content.length) at += fs.writeSync(told, content, at);
}

(async () => {
  write(Buffer.from("."));
  for (let code = frame(); code; code = frame()) {
    const message = await perform(code.toString("utf8"), frame().toString("utf8").split("\0"));
    const size = Buffer.alloc(4);
    size.writeUInt32BE(message.length);
    write(joined([size, message]));
  }
  process.exit(0);
})();
