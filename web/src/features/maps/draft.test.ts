import { expect, test } from "vitest";
import type { NetworkMap } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import {
  changed,
  mapDraft,
  mapParams,
  mapProblems,
  placed,
  withElement,
  withoutElement,
} from "./draft";

const element = {
  elementtype: MapElementType.Host,
  elements: [{ hostid: "10" }],
  iconid_off: "150",
  label: "",
  x: 50,
  y: 100,
  tags: [],
};
const link = {
  linkid: "",
  selementid1: "new1",
  selementid2: "new2",
  drawtype: "0",
  color: "00CC00",
  label: "",
  linktriggers: [],
};

/** A new map with two hosts and a link between them. */
function twoHosts() {
  const [one] = withElement(mapDraft(null), element);
  const [two, id] = withElement(one, element);
  return { ...mapDraft(null), name: "m", elements: two.elements, links: [link], id };
}

test("new elements have names that links use", () => {
  const { id, ...draft } = twoHosts();
  expect(id).toBe("new2");
  expect(mapProblems(draft)).toEqual({});
  const params = mapParams(draft, null);
  expect(params.selements).toMatchObject([
    { selementid: "new1", elements: [{ hostid: "10" }] },
    { selementid: "new2", x: 50, y: 100 },
  ]);
  expect(params.links).toMatchObject([{ selementid1: "new1", selementid2: "new2" }]);
  expect(params.links).not.toMatchObject([{ linkid: "" }]);
  expect(params).toMatchObject({ private: "1", users: [], backgroundid: "0" });
});

test("a removed element takes its links along", () => {
  const left = withoutElement(twoHosts(), "new1");
  expect(left.elements.map(({ selementid }) => selementid)).toEqual(["new2"]);
  expect(left.links).toEqual([]);
});

test("images show no object, and other elements need one", () => {
  const draft = twoHosts();
  const image = { elementtype: MapElementType.Image, elements: [] };
  const withImage = { ...draft, ...changed(draft, "new1", image) };
  expect(mapProblems(withImage)).toEqual({});
  expect((mapParams(withImage, null).selements as object[])[0]).not.toHaveProperty("elements");
  const empty = { ...draft, ...changed(draft, "new1", { elements: [] }) };
  expect(mapProblems(empty)).toHaveProperty("elements");
  const trigger = { triggerid: "", drawtype: "0", color: "DD0000" };
  const vague = { ...draft, links: [{ ...link, linktriggers: [trigger] }] };
  expect(mapProblems(vague)).toHaveProperty("links");
  expect(mapProblems({ ...draft, name: " ", width: "0", height: "65536" })).toMatchObject({
    name: expect.any(String),
    width: expect.any(String),
    height: expect.any(String),
  });
});

test("a stored map is sent back as it was read", () => {
  const map = {
    name: "m",
    width: "600",
    height: "400",
    backgroundid: "188",
    label_type: "0",
    label_location: "3",
    grid_size: "20",
    private: "0",
    users: [{ userid: "1", permission: "3" }],
    userGroups: [{ usrgrpid: "7", permission: "2" }],
    selements: [
      {
        selementid: "5",
        elementtype: "0",
        elements: [{ hostid: "10" }],
        iconid_off: "150",
        label: "a\nb",
        label_location: "-1",
        x: "13",
        y: "40",
        tags: [{ tag: "t", value: "v", operator: "1" }],
        permission: 2,
      },
    ],
    links: [
      {
        linkid: "9",
        selementid1: "5",
        selementid2: "5",
        drawtype: "4",
        color: "112233",
        label: "l",
        linktriggers: [{ triggerid: "3", drawtype: "2", color: "DD0000" }],
      },
    ],
  } as unknown as NetworkMap;
  const params = mapParams(mapDraft(map), map);
  expect(params).toMatchObject({
    label_location: "3",
    grid_size: "20",
    private: "0",
    links: map.links,
  });
  expect(params).not.toHaveProperty("users");
  expect(params).not.toHaveProperty("userGroups");
  const unshared = mapParams({ ...mapDraft(map), users: [] }, map);
  expect(unshared.users).toEqual([]);
  expect(unshared).not.toHaveProperty("userGroups");
  expect(mapParams(mapDraft(map), null)).toMatchObject({
    users: map.users,
    userGroups: map.userGroups,
  });
  expect(params.selements).toMatchObject([
    { selementid: "5", label: "a\nb", x: 13, y: 40, tags: map.selements[0]?.tags },
  ]);
});

test("places are on the grid and on the map", () => {
  expect(placed(74, 76, 50, 800, 600)).toEqual({ x: 50, y: 100 });
  expect(placed(-30, 9_000, 50, 800, 600)).toEqual({ x: 0, y: 599 });
});
