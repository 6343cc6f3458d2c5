//! The inverse of the normal distribution function.

/// The z with Φ(z) = `u`, for u strictly between 0 and 1; relative accuracy about 1e-15.
///
/// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37, 1988,
/// PPND16: rational functions of degree 7, one about the middle and two of √(−ln u) for the tails.
///
/// # Panics
/// If `u` is outside (0, 1).
pub fn inverse_normal(u: f64) -> f64 {
    assert!(u > 0.0 && u < 1.0, "the normal distribution has no quantile at {u}");
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(&MIDDLE, r);
    }
    let r = (-(if q < 0.0 { u } else { 1.0 - u }).ln()).sqrt();
    let z = if r <= 5.0 { ratio(&TAIL, r - 1.6) } else { ratio(&FAR_TAIL, r - 5.0) };
    if q < 0.0 { -z } else { z }
}

/// Coefficients of numerator and denominator, the constants first.
type RationalFunction = [[f64; 8]; 2];

fn ratio([numerator, denominator]: &RationalFunction, r: f64) -> f64 {
    let at = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c);
    at(numerator) / at(denominator)
}

/// Function of 0.425² − (u − ½)², to be multiplied by u − ½: the middle of the distribution.
const MIDDLE: RationalFunction = [
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
/// Function of √(−ln u) − 1.6: the tails.
const TAIL: RationalFunction = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        0.000_774_545_014_278_341_4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        0.000_547_593_808_499_534_5,
        1.050_750_071_644_416_9e-9,
    ],
];
/// Function of √(−ln u) − 5: the far tails.
const FAR_TAIL: RationalFunction = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        0.000_786_869_131_145_613_3,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_7e-15,
    ],
];
